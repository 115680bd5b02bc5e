"""A stored note read once more from its own text, without its file."""

from __future__ import annotations

from dataclasses import replace

from vault.core.code import UnreadableCode, parse_code
from vault.core.documents import stored_document
from vault.core.markdown import parse_markdown
from vault.core.types import NoteKind, ParsedNote
from vault.models import Note

# Takes the place of a header, so that a rule at the top of a body is not read as one.
_HEADER = "---\nstored: true\n---\n"


def parsed_from_text(note: Note, text: str) -> ParsedNote:
    """`text`, the body of `note` or what is to become it, parsed as its file would be, under
    the names and tags that the row has."""
    return replace(
        _parsed(note, text),
        title=note.title,
        tags=tuple(note.tags),
        aliases=tuple(note.aliases),
    )


def _parsed(note: Note, text: str) -> ParsedNote:
    kind = NoteKind(note.kind)
    if kind is NoteKind.ATTACHMENT:
        return stored_document(text, title=note.title, properties=note.properties)
    if kind is NoteKind.CODE:
        try:
            return parse_code(text, path=note.path)
        except UnreadableCode:
            return ParsedNote(note.title, text, kind=kind, language=note.language)
    parsed = parse_markdown(_HEADER + text, path=note.path)
    return replace(parsed, kind=kind, body_line=note.body_line, properties=note.properties)
