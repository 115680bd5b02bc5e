"""PDF documents as notes: pages as sections, reasons where nothing can be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vault.pdf_files import encrypted, pdf
from vault.core import documents
from vault.core.chunking import chunk_note
from vault.core.documents import (
    UnreadableDocument,
    parse_document,
    picture_note,
    read_pages,
    stored_document,
)
from vault.core.types import ChunkLimits, NoteKind

LINES = ["Pumps are drained in autumn.", "## Page 7", "%% not a comment %%"]


def test_every_page_is_a_section_and_its_words_are_no_markup() -> None:
    parsed = parse_document(pdf([LINES, ["Second page."]]), path="manuals/Pump 3.pdf").note
    assert (parsed.title, parsed.kind) == ("Pump 3", NoteKind.ATTACHMENT)
    assert parsed.properties == {"pages": 2}
    assert [heading.text for heading in parsed.headings] == ["Page 1", "Page 2"]
    first, second = chunk_note(parsed, limits=ChunkLimits())
    assert first.heading_path == ("Pump 3", "Page 1")
    assert "%% not a comment %%" in first.content
    assert "Page 7" in first.content
    assert second.heading_path == ("Pump 3", "Page 2")
    assert parsed.body[second.start : second.end] == "## Page 2\n\nSecond page."


def test_the_title_that_a_document_gives_itself_is_another_name() -> None:
    assert parse_document(pdf([["x"]], title="Pump manual"), path="p.pdf").note.aliases == (
        "Pump manual",
    )
    assert parse_document(pdf([["x"]], title="p"), path="p.pdf").note.aliases == ()
    assert parse_document(pdf([["x"]], title="t" * 300), path="p.pdf").note.aliases == ()


def test_secrets_are_taken_out_before_anything_else() -> None:
    parsed = parse_document(pdf([["password: hunter2hunter2X"]]), path="p.pdf")
    assert "hunter2hunter2X" not in parsed.note.body
    assert len(parsed.findings) == 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no PDF that can be read"),
        (b"%PDF-1.4 and nothing else", "no PDF that can be read"),
        (pdf([[], []]), "2 pages and no text"),
        (encrypted(pdf([["x"]]), "secret"), "encrypted"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(data: bytes, words: str) -> None:
    with pytest.raises(UnreadableDocument, match=words):
        parse_document(data, path="p.pdf")


def test_a_document_locked_for_changes_only_is_read() -> None:
    assert read_pages(encrypted(pdf([["Open to read."]]), "")).texts == ("Open to read.",)


def test_of_a_document_that_is_too_long_the_first_pages_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(documents, "MOST_PAGES", 2)
    parsed = parse_document(pdf([["one"], ["two"], ["three"]]), path="p.pdf").note
    assert len(parsed.headings) == 2
    assert "first 2 pages" in parsed.warnings[0][0]


def test_a_picture_is_found_by_its_name() -> None:
    (chunk,) = chunk_note(picture_note("plans/pump-hall.PNG"), limits=ChunkLimits())
    assert (chunk.heading_path, chunk.content) == (("pump-hall",), "")


pages = st.lists(st.text(alphabet="ab #\n%é^`", max_size=40), min_size=1, max_size=5)


@given(pages)
def test_blocks_cover_all_that_is_no_blank_line(texts: list[str]) -> None:
    body = documents._joined(tuple(documents._tidy(text) for text in texts))
    note = stored_document(body, title="t", properties={})
    assert len(note.headings) == len(texts)
    covered = "".join(body[block.start : block.end] for block in note.blocks)
    assert "".join(covered.split()) == "".join(body.split())
    ends = [0, *(block.end for block in note.blocks)]
    assert all(block.start >= end for block, end in zip(note.blocks, ends, strict=False))
    for chunk in chunk_note(note, limits=ChunkLimits()):
        assert chunk.content == body[chunk.start : chunk.end]
