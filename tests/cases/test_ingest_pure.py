"""Faults met in the field with headings, properties, bytes and scripts: file, note, chunks.

Each test names the case whose input it reads from `data/`, or makes the input itself.
"""

from __future__ import annotations

import base64
import json
import random
import re

import pytest
import regex

from tests.cases.ingested import SEEN, Ingested
from vault.core.chunking import embedded_text
from vault.core.links import heading_at
from vault.core.tokens import estimate_tokens


def test_01_fences_hide_hashes() -> None:
    case = Ingested.case("01")
    assert case.headings("Deploy notes.md") == [(1, "Deploy notes"), (2, "After fences")]
    assert case.path_of("zelmira") == ["Deploy notes"]
    assert case.path_of("brantik") == ["Deploy notes", "After fences"]
    assert case.holding("install the agent") == case.holding("second comment")
    assert case.holding("zelmira") == case.holding("still inside the tilde fence")


def test_02_fences_in_lists_and_quotes_and_one_never_closed() -> None:
    case = Ingested.case("02")
    assert case.headings("Runbook.md") == [(1, "Runbook"), (2, "Real section")]
    assert case.path_of("plimora") == ["Runbook", "Real section"]
    assert case.headings("Unclosed.md") == [(1, "Unclosed")]
    assert "also code" in case.holding("tavorin").content
    for chunk in case.chunks["Runbook.md"]:
        assert len(re.findall(r"^[\s>]*(?:```|~~~)", chunk.content, re.MULTILINE)) % 2 == 0


def test_04_forms_of_headings() -> None:
    case = Ingested.case("04")
    assert case.headings("Headings.md") == [
        (1, "Setup"),
        (1, "C#"),
        (2, ""),
        (2, "One space and trailing"),
        (2, "See Arrays and bold the alias code mark"),
    ]
    assert case.path_of("veldrin") == ["Setup"]
    assert case.path_of("karsolt") == ["C#"]
    assert case.path_of("mirvane") == ["C#", "One space and trailing"]
    assert case.path_of("nalvore") == ["C#", "See Arrays and bold the alias code mark"]
    assert case.path_of("seven hashes") == ["C#"]
    assert "Some note" in case.targets("Headings.md")
    note = case.notes["Headings.md"]
    assert "nospace" in note.tags
    assert heading_at("See Arrays and bold the alias code mark", note.headings) is not None
    for chunk in case.chunks["Headings.md"]:
        first = embedded_text(chunk.heading_path, "", chunk.content).split("\n")[0]
        assert not re.search(r"\[|\*\*|==|https| >  > ", first)


def test_05_levels_that_jump_and_come_back() -> None:
    case = Ingested.case("05")
    assert case.path_of("dolvane") == ["Catalog", "Arrays"]
    assert case.path_of("esquim") == ["Catalog", "Links"]
    assert case.path_of("farlode") == ["Catalog", "Services"]
    assert case.path_of("gistrel") == ["Catalog", "Services", "Deep"]
    assert case.path_of("hurnock") == ["Second top"]


def test_06_text_before_headings_and_headings_without_text() -> None:
    case = Ingested.case("06")
    assert case.path_of("quillbex") == ["Agenda"]
    assert case.holding("## Owners")
    assert case.holding("# Actions")
    assert case.holding("norvath")
    assert len(case.chunks["Only headings.md"]) == 1


def test_07_comments_and_raw_html() -> None:
    case = Ingested.case("07")
    assert case.headings("Policy.md") == [(1, "Policy"), (2, "Important"), (2, "Last")]
    assert case.path_of("wexley") == ["Policy", "Important"]
    assert case.path_of("xantor") == ["Policy", "Last"]
    assert not any("vortigal" in chunk.content for chunk in case.chunks["Policy.md"])
    assert not any("TODO" in chunk.content for chunk in case.chunks["Policy.md"])


def test_10_broken_properties_block_nothing() -> None:
    case = Ingested.case("10")
    words = (
        "jorvick kelvane lormint mendrak nuvolar ostrava pellmar quenlow rastrel sorvint turlane"
    )
    for word in words.split():
        assert case.holding(word)
    warned = {path[0] for path, warnings in case.warnings.items() if warnings}
    assert warned == set("abcdefghij")
    for path, note in case.notes.items():
        assert len(note.headings) == 1, path
        assert note.title == {"k": "Good one"}.get(path[0], path[0].upper())
        assert all(line is not None and line > 1 for _reason, line in note.warnings)
    assert case.notes["g-dup-keys.md"].tags == ("two",)


def test_11_values_that_yaml_turns_into_something_else() -> None:
    case = Ingested.case("11")
    titles = {path: note.title for path, note in case.notes.items()}
    assert titles == {
        "2026-05-26.md": "2026-05-26",
        "list-title.md": "list-title",
        "none.md": "none",
        "rel.md": "0.90",
        "scalar.md": "scalar",
        "true.md": "true",
        "zero.md": "0",
    }
    assert case.notes["true.md"].aliases == ("No", "12:30", "0x1DA7430", "01234", "1_000")
    assert case.notes["none.md"].aliases == ("Copy: Files & Folders",)
    assert case.notes["none.md"].tags == ()
    assert case.holding("just a sentence between rules")
    for word in ["wolmark", "xelvane", "umbrex", "yostrin", "arvonel", "zandor", "vindrel"]:
        assert case.holding(word)
    for note in case.notes.values():
        assert json.dumps(note.properties, allow_nan=False)


def test_13_dashes_at_the_top_that_are_no_properties() -> None:
    case = Ingested.case("13")
    words = "gormane hivlor ixtrand jolvern kravint lembrou mordane nelvick orlane"
    for word in words.split():
        assert case.holding(word)
    assert case.warnings["never-closed.md"]
    assert case.headings("never-closed.md") == [(1, "Heading inside")]
    assert case.notes["rule-in-body.md"].title == "Rules later"
    assert len(case.chunks["rule-in-body.md"]) == 1
    # As CommonMark reads them; the text stays.
    assert case.headings("late-block.md") == [(2, "title: Too late")]
    assert case.headings("four-dashes.md") == [(2, "title: four")]


def test_14_line_endings_and_marks_make_no_difference() -> None:
    text = (
        "---\ntitle: Win note\ntags: [alpha]\n---\n# Win note\n\n## Part one\n\nText pluvane.\n\n"
        "| a | b |\n|---|---|\n| 1 | quistor |\n"
    )
    crlf = text.replace("\n", "\r\n").encode()
    case = Ingested(
        {
            "lf.md": text.encode(),
            "crlf.md": crlf,
            "bom-crlf.md": b"\xef\xbb\xbf" + crlf,
            "mixed.md": text.replace("\n", "\r\n", 5).encode(),
            "cr-only.md": text.replace("\n", "\r").encode(),
        }
    )
    plain = case.notes["lf.md"]
    assert (plain.title, plain.tags) == ("Win note", ("alpha",))
    for path, note in case.notes.items():
        assert note == plain, path
        assert case.chunks[path] == case.chunks["lf.md"]
        assert not re.search("[\r\ufeff]", note.body)


def test_16_nul_bad_bytes_and_binaries() -> None:
    case = Ingested(
        {
            "01-nul.md": b"# Nul\n\nBefore tulvane\x00\x00 after ulstrom.\n" + b"\x00" * 512,
            "02-latin1.md": "# Café\n\nRésumé vandrel.\n".encode("latin-1"),
            "03-utf16.md": "# Wide\n\nText wimbrel.\n".encode("utf-16"),
            "04-binary.md": bytes(range(256)) * 40,
            "05-surrogate.md": b"# Broken\n\nHalf \xed\xa0\xbd pair xolvane.\n",
            "06-good.md": b"# Good\n\nFine yarvint.\n",
        }
    )
    for word in ["tulvane", "ulstrom", "vandrel", "wimbrel", "xolvane", "yarvint"]:
        assert case.holding(word)
    assert "04-binary.md" not in case.notes
    assert [path[:2] for path, warnings in case.warnings.items() if warnings] == [
        "01",
        "02",
        "04",
        "05",
    ]
    for note in case.notes.values():
        assert "\x00" not in note.body
        assert note.body.encode()


SENTENCES = {
    "zh": "季度复盘会议记录指出供应链延误主要来自港口检验环节团队决定把安全库存提高到六周",
    "ja": "来月の棚卸しでは倉庫二番の在庫を先に数え不足分は月末までに発注することにした",
    "th": "ที่ประชุมตกลงเลื่อนกำหนดส่งมอบเครื่องสูบน้ำออกไปสองสัปดาห์เพราะชิ้นส่วนยังไม่ผ่านการตรวจสอบ",
    "km": "កិច្ចប្រជុំបានសម្រេចពន្យារពេលការប្រគល់ម៉ាស៊ីនបូមទឹក",
}


@pytest.mark.parametrize("language", SENTENCES)
@pytest.mark.parametrize("form", ["line", "cell"])
def test_17_scripts_without_spaces(language: str, form: str) -> None:
    line = SENTENCES[language] * 60 + "。 endvok"
    text = f"| a | b |\n|---|---|\n| c | {line} |\n" if form == "cell" else f"# T\n\n{line}\n"
    case = Ingested({"note.md": text.encode()})
    (note,), (chunks,) = case.notes.values(), case.chunks.values()
    assert case.holding("endvok")
    assert len(chunks) > 2
    covered = {place for chunk in chunks for place in range(chunk.start, chunk.end)}
    assert all(not SEEN.match(char) for at, char in enumerate(note.body) if at not in covered)
    boundaries = {0, *(found.end() for found in regex.finditer(r"\X", note.body))}
    for chunk in chunks:
        assert estimate_tokens(embedded_text(chunk.heading_path, "", chunk.content)) <= 450
        assert {chunk.start, chunk.end} <= boundaries


def test_17_splits_fall_at_the_ends_of_sentences_where_there_are_any() -> None:
    text = "。".join([SENTENCES["zh"]] * 60) + "。"
    case = Ingested({"note.md": text.encode()})
    assert all(chunk.content.endswith("。") for chunk in case.chunks["note.md"])


def payload(seed: int, size: int) -> str:
    return base64.b64encode(random.Random(seed).randbytes(size)).decode()


def test_19_pictures_written_into_the_text() -> None:
    text = (
        "# Site visit\n\nBefore aldrome.\n\n"
        f"![pump photo](data:image/png;base64,{payload(1, 6000)})\n\n"
        "After belvick.\n\n![ref image][shot]\n\n"
        f'<img alt="third" src="data:image/jpeg;base64,{payload(2, 3000)}">\n\nEnd cormund.\n\n'
        f"[shot]: data:image/png;base64,{payload(3, 1500)}\n"
    )
    picture = f"![p](data:image/png;base64,{payload(4, 3_000_000)})"
    big = f"# Big\n\nBefore dornick.\n\n{picture}\n\nAfter elvane.\n"
    case = Ingested({"inline.md": text.encode(), "big.md": big.encode()})
    for word in ["aldrome", "belvick", "cormund", "pump photo", "third", "dornick", "elvane"]:
        assert case.holding(word)
    for chunks in case.chunks.values():
        assert len(chunks) <= 2
        assert not any(re.search(r"[A-Za-z0-9+/]{60}", chunk.content) for chunk in chunks)
