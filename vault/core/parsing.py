"""A file's text to a note, by the kind of file it is."""

from __future__ import annotations

from dataclasses import dataclass, replace

from vault.core.code import UnreadableCode, parse_code
from vault.core.drawings import UnreadableDrawing, board_text, drawing_text, is_drawing
from vault.core.file_kinds import kind_of
from vault.core.markdown import parse_markdown
from vault.core.names import file_name, without_suffix
from vault.core.scrub import scrub
from vault.core.types import Finding, NoteKind, ParsedNote


class UnreadableText(Exception):
    """The text is not what the file's name says. `str()` says why and how to mend it."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A note, and where secrets were taken out of it."""

    note: ParsedNote
    findings: tuple[Finding, ...]


def parse_text(text: str, *, path: str, emails: bool = False) -> Parsed:
    """Scrub and parse the decoded text of a file. Raises UnreadableText.

    Boards become Markdown before they are scrubbed: a secret in JSON hides behind its
    escapes. Their lines and spans are those of that Markdown.
    """
    kind = kind_of(path)
    title = ""
    try:
        if kind is NoteKind.CANVAS:
            text = board_text(text, path=path)
            # The first heading of one of its cards is no title of a board.
            title = file_name(without_suffix(path))
        elif kind is NoteKind.NOTE and is_drawing(text, path=path):
            text, kind = drawing_text(text), NoteKind.CANVAS
        scrubbed = scrub(text, emails=emails)
        if kind is NoteKind.CODE:
            note = parse_code(scrubbed.text, path=path)
        else:
            note = parse_markdown(scrubbed.text, path=path)
            note = replace(note, kind=kind, title=title or note.title)
    except (UnreadableDrawing, UnreadableCode) as error:
        raise UnreadableText(str(error)) from error
    return Parsed(note, scrubbed.findings)
