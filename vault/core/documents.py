"""Files that are no text themselves: PDF documents, page by page, and pictures by name."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from vault.core.file_kinds import suffix_of
from vault.core.lines import LineMap
from vault.core.names import file_name
from vault.core.scrub import scrub
from vault.core.types import Block, BlockKind, Finding, Heading, NoteKind, ParsedNote

# A novel has a million characters; what is longer is data.
MOST_CHARACTERS = 3_000_000
MOST_PAGES = 5_000
_PAGE = re.compile(r"^## Page (\d+)$", re.MULTILINE)
_GAP = re.compile(r"\n{2,}")
_LONGEST_TITLE = 200


class UnreadableDocument(Exception):
    """Nothing of the document can be found. `str()` says why and how to mend it."""


@dataclass(frozen=True, slots=True)
class Pages:
    """The text of each page, in order, and the title the document gives itself."""

    texts: tuple[str, ...]
    title: str = ""
    warning: str = ""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document as a note, and where secrets were taken out of it."""

    note: ParsedNote
    findings: tuple[Finding, ...] = ()


def parse_document(data: bytes, *, path: str, emails: bool = False) -> ParsedDocument:
    """Read a PDF: every page is a section "Page 3". Raises UnreadableDocument."""
    pages = read_pages(data)
    if not any(text.strip() for text in pages.texts):
        raise UnreadableDocument(
            f"It has {len(pages.texts)} pages and no text: they are pictures of pages. Run text "
            "recognition over it and store the result."
        )
    scrubbed = scrub(_joined(pages.texts), emails=emails)
    name = _bare_name(path)
    title = scrub(pages.title, emails=emails).text
    note = stored_document(scrubbed.text, title=name, properties={"pages": len(pages.texts)})
    note = replace(
        note,
        aliases=(title,) if title and title != name else (),
        warnings=((pages.warning, None),) if pages.warning else (),
    )
    return ParsedDocument(note, scrubbed.findings)


def picture_note(path: str) -> ParsedNote:
    """A picture: it is found by its name, and by what notes say where they show it."""
    return ParsedNote(
        title=_bare_name(path),
        body="",
        kind=NoteKind.ATTACHMENT,
        properties={"format": suffix_of(path)[1:].upper()},
    )


def _bare_name(path: str) -> str:
    name = file_name(path)
    return name[: -len(suffix_of(path))] or name


def read_pages(data: bytes) -> Pages:
    """The text of a PDF. Raises UnreadableDocument, and whatever the library stumbles over."""
    # 0.3 s to load: only where a document is read.
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableDocument("It is encrypted: store a copy that opens without a password.")
        texts: list[str] = []
        length = 0
        for page in reader.pages:
            if len(texts) >= MOST_PAGES or length > MOST_CHARACTERS:
                return Pages(tuple(texts), _title(reader.metadata), _too_long(len(texts)))
            texts.append(_tidy(page.extract_text()))
            length += len(texts[-1])
        return Pages(tuple(texts), _title(reader.metadata))
    except PyPdfError as error:
        raise UnreadableDocument(f"It is no PDF that can be read ({error}).") from error


def _title(metadata: object) -> str:
    title = getattr(metadata, "title", None)
    text = " ".join(title.split()) if isinstance(title, str) else ""
    return text if len(text) <= _LONGEST_TITLE else ""


def _too_long(pages: int) -> str:
    return f"Only its first {pages:,} pages are read. Split it, so that all of it is found."


def _tidy(text: str) -> str:
    """Lines without what surrounds them; blank ones between paragraphs stay."""
    clean = text.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    clean = clean.encode("utf-8", "replace").decode()
    lines = (_own_line(" ".join(line.split())) for line in clean.split("\n"))
    return _GAP.sub("\n\n", "\n".join(lines)).strip("\n")


def _own_line(line: str) -> str:
    """A line that only looks like our mark of a page is none."""
    return line.removeprefix("## ") if _PAGE.match(line) else line


def _joined(texts: tuple[str, ...]) -> str:
    parts = (f"## Page {number}\n\n{text}".rstrip() for number, text in enumerate(texts, 1))
    return "\n\n".join(parts) + "\n"


def stored_document(body: str, *, title: str, properties: dict[str, Any]) -> ParsedNote:
    """A document from its text as it is stored: pages under their marks."""
    lines = LineMap(body)
    marks = list(_PAGE.finditer(body))
    return ParsedNote(
        title=title,
        body=body,
        kind=NoteKind.ATTACHMENT,
        properties=properties,
        headings=tuple(
            Heading(2, f"Page {mark[1]}", mark.start(), lines.line_at(mark.start()))
            for mark in marks
        ),
        blocks=tuple(_blocks(body, [mark.span() for mark in marks])),
    )


def _blocks(body: str, marks: list[tuple[int, int]]) -> Iterator[Block]:
    """The marks of pages, and the paragraphs between them."""
    yield from _paragraphs(body, 0, marks[0][0] if marks else len(body))
    ends = [*(start for start, _end in marks[1:]), len(body)][: len(marks)]
    for (start, end), page_end in zip(marks, ends, strict=True):
        yield Block(BlockKind.HEADING, start, end)
        yield from _paragraphs(body, end, page_end)


def _paragraphs(body: str, start: int, end: int) -> Iterator[Block]:
    position = start
    for gap in [*(match.span() for match in _GAP.finditer(body, start, end)), (end, end)]:
        piece = body[position : gap[0]]
        text = piece.strip("\n")
        if text:
            first = position + len(piece) - len(piece.lstrip("\n"))
            yield Block(BlockKind.PARAGRAPH, first, first + len(text))
        position = gap[1]
