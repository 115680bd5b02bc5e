"""One section of a note, by the headings above it: what a pointer to a place leads to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vault.core.places import Place, place_of
from vault.core.sections import Section, find_section, sections_of
from vault.core.tokens import estimate_tokens
from vault.core.windows import window_around
from vault.models import Note

BETWEEN = " > "
# Tokens of a section that are given at once; what is longer comes in parts.
PART_TOKENS = 1_200


@dataclass(frozen=True, slots=True)
class SectionText:
    """`text` is `body[start:end]`. `below`: the sections directly or deeper inside it that
    were left out."""

    path: tuple[str, ...]
    text: str
    start: int
    end: int
    below: tuple[tuple[str, ...], ...] = ()


def sections_in(note: Note) -> list[Section]:
    """Every section of `note`, in order."""
    return sections_of(note.headings, length=len(note.body))


def read_section(
    note: Note, wanted: Sequence[str], *, with_below: bool = True
) -> SectionText | None:
    """The section under the headings `wanted`, outermost first; None when there is none.

    One string may hold the whole path with “ > ” between. No headings mean what stands
    before the first one. Without `with_below` it ends where its first subsection begins.
    """
    sections = sections_in(note)
    if not any(part.strip() for part in wanted):
        end = sections[0].start if sections else len(note.body)
        return _cut(note, (), 0, end)
    found = find_section(sections, wanted)
    if found is None and len(wanted) == 1:
        found = find_section(sections, wanted[0].split(BETWEEN))
    if found is None:
        return None
    inside = [s for s in sections if found.start < s.start < found.end]
    if with_below or not inside:
        return _cut(note, found.path, found.start, found.end)
    below = tuple(section.path for section in inside)
    return _cut(note, found.path, found.start, inside[0].start, below=below)


def section_at(note: Note, offset: int) -> tuple[str, ...]:
    """The headings of the innermost section that holds `offset`; empty before the first."""
    holding = [s for s in sections_in(note) if s.start <= offset < s.end]
    return holding[-1].path if holding else ()


@dataclass(frozen=True, slots=True)
class WindowText:
    """`text` is `body[start:end]`, a few sentences of the section `path`. `before`, `after`:
    the sentences of the section next to them; None at its ends."""

    path: tuple[str, ...]
    text: str
    start: int
    end: int
    before: Place | None = None
    after: Place | None = None


def read_window(note: Note, place: Place) -> WindowText | None:
    """The sentences around `place`, no more of its section. None when the note has no such
    place, or has another text there by now."""
    if not place.is_in(note.body):
        return None
    path, within = _own_text(note, place.start)
    found = window_around(note.body, (place.start, place.end), within=within)
    if found is None:
        return None

    def pointed(span: tuple[int, int] | None) -> Place | None:
        return place_of(note.body[slice(*span)], span[0]) if span else None

    text = note.body[found.start : found.end]
    return WindowText(
        path, text, found.start, found.end, pointed(found.before), pointed(found.after)
    )


def _own_text(note: Note, offset: int) -> tuple[tuple[str, ...], tuple[int, int]]:
    """The innermost section that holds `offset`, and its text between its heading and its
    first subsection."""
    sections = sections_in(note)
    holding = [s for s in sections if s.start <= offset < s.end]
    if not holding:
        return (), (0, min([len(note.body), *(s.start for s in sections)]))
    section = holding[-1]
    end = min([section.end, *(s.start for s in sections if section.start < s.start)])
    return section.path, (_after_line(note.body, section.start, end), end)


def _after_line(body: str, start: int, end: int) -> int:
    """After the line of the heading; where there is no more, its start."""
    line_end = body.find("\n", start, end)
    return line_end if 0 <= line_end < len(body[:end].rstrip()) else start


def split_parts(text: str, *, most: int = PART_TOKENS) -> list[str]:
    """`text` cut at line ends into parts of about `most` tokens; joined they are the text.

    A single line that is longer is a part of its own.
    """
    parts: list[str] = [""]
    room = most
    for line in text.splitlines(keepends=True):
        cost = estimate_tokens(line)
        if cost > room and parts[-1]:
            parts.append("")
            room = most
        parts[-1] += line
        room -= cost
    return parts


def _cut(
    note: Note,
    path: tuple[str, ...],
    start: int,
    end: int,
    *,
    below: tuple[tuple[str, ...], ...] = (),
) -> SectionText:
    text = note.body[start:end].rstrip()
    return SectionText(path, text, start, start + len(text), below)
