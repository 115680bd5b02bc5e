"""Faults met in the field with tables, links, tags and odd notes, and every file at hand."""

from __future__ import annotations

import unicodedata

from tests.cases.ingested import SEEN, Ingested, field_files
from vault.core.chunking import embedded_text


def test_21_a_table_that_must_be_split() -> None:
    case = Ingested.case("21")
    path = "Invoices 2026.md"
    rows = [line for line in case.notes[path].body.split("\n") if line.startswith("| INV")]
    assert len(rows) == 180
    for row in rows:
        number = row.split(" | ")[0][2:]
        chunk = case.holding(number)
        assert row in chunk.content.split("\n")
        assert "| Number | Client | Link | Amount | State |\n|:---" in chunk.content
    assert case.path_of("INV/2026/00151") == ["Invoices 2026", "Ledger"]
    holding_caption = [chunk for chunk in case.chunks[path] if "nordrane" in chunk.content]
    assert [chunk.ordinal for chunk in holding_caption] == [0]
    assert set(case.targets(path)) == {f"Client {number:02}" for number in range(17)}


def test_22_pipes_of_aliases_in_tables() -> None:
    case = Ingested.case("22")
    links = case.notes["Table.md"].links
    assert [(link.target, link.anchor, link.alias, link.is_embed) for link in links] == [
        ("People/Mira", "", "Mira", False),
        ("Plan", "Phase two", "phase 2", False),
        ("chart.png", "", "200", True),
        ("Plan", "", "unescaped", False),
        ("Plan", "", "odd but seen", False),
        ("Plan", "", "normal", False),
    ]
    index = case.index()
    found = {index.resolve(link.target, source_path="Table.md") for link in links}
    assert found == {"People/Mira.md", "Plan.md", None}


def index_note(lines: list[str]) -> bytes:
    return ("# Index\n\n" + "\n".join(lines) + "\n\n```md\n[[also not a link]]\n```\n").encode()


def test_24_forms_of_links() -> None:
    nfd = unicodedata.normalize("NFD", "Notes/Café ガイド.md")
    lines = [
        "1. [a](the%20brief.md)",
        "2. [b](<the brief.md>)",
        "3. [c](the brief.md)",
        "4. [[the brief]]",
        "5. [d](Sub/deep.md#deep)",
        "6. [e](../Log.md)",
        "7. [f](/Log.md)",
        "8. [[log]] and [[LOG.md]]",
        "9. [[Café ガイド]] typed composed",
        "10. [g](100%25%20sure%20(v1.2).md)",
        "11. [[100% sure (v1.2)|sure]]",
        "12. [h](https://example.org/the%20brief.md) [i](mailto:ana@example.org) [[https://example.org]]",
        "13. `[[not a link]]` and [[#Index]]",
        "14. [j](deep.md) from another folder",
        "15. [k](..%2F..%2Fetc%2Fpasswd)",
        "16. [broken](nowhere.md) [[Nobody]]",
    ]
    case = Ingested(
        {
            "Notes/the brief.md": b"# the brief\n",
            "Notes/Sub/deep.md": b"# deep\n",
            nfd: b"# Cafe guide\n",
            "Log.md": b"# Log\n",
            "Notes/100% sure (v1.2).md": b"# sure\n",
            "Notes/Index.md": index_note(lines),
        }
    )
    index = case.index()
    found: dict[int, list[str | None]] = {}
    for link in case.notes["Notes/Index.md"].links:
        resolved = index.resolve(link.target, source_path="Notes/Index.md")
        found.setdefault(link.line - 2, []).append(resolved)
    assert found == {
        **{line: ["Notes/the brief.md"] for line in (1, 2, 3, 4)},
        5: ["Notes/Sub/deep.md"],
        6: ["Log.md"],
        7: ["Log.md"],
        8: ["Log.md", "Log.md"],
        9: [nfd],
        10: ["Notes/100% sure (v1.2).md"],
        11: ["Notes/100% sure (v1.2).md"],
        13: ["Notes/Index.md"],
        14: ["Notes/Sub/deep.md"],
        15: [None],
        16: [None, None],
    }


def test_26_what_looks_like_a_tag_and_is_none() -> None:
    case = Ingested.case("26")
    assert set(case.notes["Tags.md"].tags) == {
        "project",
        "project/alpha",
        "y1984",
        "1984y",
        "тест",
        "日本",
        "a-b_c",
        "done",
        "paren",
        "end",
        "heading-like-tag",
    }
    assert [anchor.name for anchor in case.notes["Tags.md"].anchors] == ["ec05d4"]


def test_27_callouts_tasks_footnotes_and_formulas() -> None:
    case = Ingested.case("27")
    assert case.headings("Mixed.md") == [(1, "Mixed"), (2, "End")]
    for word in [
        "golvane",
        "hestrel",
        "ildane",
        "jelmark",
        "kolmane",
        "lestrin",
        "moldane",
        "nestrane",
    ]:
        assert case.holding(word)
    assert "Read me first" in case.holding("golvane").content
    assert "- [ ] open task ildane" in case.holding("ildane").content
    assert "$50 to $100" in case.holding("$50").content
    assert case.targets("Mixed.md") == []


def test_29_notes_that_are_templates() -> None:
    case = Ingested.case("29")
    assert case.warnings["Templates/Meeting.md"]
    assert case.warnings["20_Templates/Daily.md"]
    assert "`<% tp.date.now() %>` or {{title}}, guide wolstra." in case.holding("wolstra").content
    for word in ["tolmane", "velmane", "ulstra"]:
        assert case.holding(word)
    assert case.notes["Templates/Meeting.md"].title == "Meeting"


def test_30_notes_without_text() -> None:
    case = Ingested.case("30")
    assert case.holding("yolstra")
    for path in ["zero.md", "nbsp.md", "spaces.md", "only-comment.md"]:
        assert case.chunks[path] == []
        assert case.notes[path].title == path.removesuffix(".md")
    (chunk,) = case.chunks["only-fm.md"]
    assert "xelmane" in embedded_text(chunk.heading_path, "", chunk.content)
    assert case.notes["only-fm.md"].tags == ("stub",)
    assert len(case.chunks["only-embed.md"]) == 1
    for chunks in case.chunks.values():
        for chunk in chunks:
            assert SEEN.search(embedded_text(chunk.heading_path, "", chunk.content))


def test_every_vault_file_at_hand_is_read_and_none_of_its_text_is_lost() -> None:
    count = 0
    for path in field_files():
        case = Ingested({path.name: path.read_bytes()})
        count += 1
        for note, chunks in zip(case.notes.values(), case.chunks.values(), strict=True):
            left = bytearray(b"\x01" * len(note.body))
            for start, end in (*note.hidden, *((chunk.start, chunk.end) for chunk in chunks)):
                left[start:end] = bytes(end - start)
            lost = "".join(char for char, is_left in zip(note.body, left, strict=True) if is_left)
            assert not SEEN.search(lost), path
            assert all(chunk.tokens <= 450 for chunk in chunks), path
    assert count > 40
