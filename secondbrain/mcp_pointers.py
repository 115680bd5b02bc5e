"""Pointers into notes, and what agents read where they lead.

`12@120-151.3fa9` names a few characters of note 12, as a search found them, and with them
the section they stand in; `12#Heading > Sub` a section by its headings, `12#` what stands
before any heading. What leads nowhere is refused with the sections that are there: it never
becomes another section or the whole note.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User

from retrieval.core.snippets import SNIPPET_LENGTH, plain_text
from retrieval.core.types import Hit
from secondbrain.mcp_arguments import ToolRefused
from vault.access import notes_in, scope_for
from vault.core.places import Place, read_place
from vault.core.tokens import estimate_tokens
from vault.models import Note
from vault.sections import (
    BETWEEN,
    read_section,
    read_window,
    section_at,
    sections_in,
    split_parts,
)

MOST_LISTED = 60
# A reader of one has read them all.
_COPIES_NAMED = 3
_POINTER = re.compile(r"(?P<note>[0-9]{1,18})(?P<rest>[#@].*)", re.DOTALL)


def pointers_of(user: User, hits: Sequence[Hit]) -> list[dict[str, Any]]:
    """For each hit the sentences that tell most, and where to read on."""
    notes = notes_in(scope_for(user)).filter(pk__in=[hit.note_id for hit in hits])
    by_id = notes.select_related("vault").in_bulk()
    return [_pointer_json(by_id[hit.note_id], hit) for hit in hits if hit.note_id in by_id]


def _pointer_json(note: Note, hit: Hit) -> dict[str, Any]:
    place = hit.around or Place(*hit.span)
    path = section_at(note, place.start)
    section = read_section(note, path, with_below=False)
    row: dict[str, Any] = {
        "section": place_in(note, place),
        "breadcrumb": breadcrumb(note, path),
        "snippet": _snippet(note, hit),
        "section_tokens": estimate_tokens(section.text) if section else 0,
        "date": hit.day.isoformat(),
    }
    row |= {name: said for name, said in hit.standing.items() if said}
    return row | copies_named([(c.vault_slug, c.path, c.is_outdated) for c in hit.also_in])


def copies_named(copies: Sequence[tuple[str, str, bool]]) -> dict[str, list[str]]:
    """`also_in`: a few of the notes that say the same, each of (vault, path, whether it is
    outdated), by vault and file; empty where there are none."""
    if not copies:
        return {}
    named = [
        BETWEEN.join((slug, path)) + (" (no longer holds)" if is_outdated else "")
        for slug, path, is_outdated in copies[:_COPIES_NAMED]
    ]
    left = len(copies) - len(named)
    return {"also_in": [*named, f"and {left} more"] if left else named}


def _snippet(note: Note, hit: Hit) -> str:
    """Whole sentences where they are short enough, else the best stretch of the passage."""
    if hit.around is None or hit.is_code:
        return hit.snippet
    text = plain_text(note.body[hit.around.start : hit.around.end])
    return text if 0 < len(text) <= SNIPPET_LENGTH else hit.snippet


def pointer_to(note: Note, path: Sequence[str]) -> str:
    """What names a section: its headings, outermost first."""
    return f"{note.pk}#{BETWEEN.join(path)}"


def place_in(note: Note, place: Place) -> str:
    """What names a place in a note."""
    return f"{note.pk}@{place}"


def breadcrumb(note: Note, path: Sequence[str]) -> str:
    """Vault, file and headings, outermost first."""
    return BETWEEN.join((note.vault.slug, note.path, *path))


def note_of(user: User, pointer: str) -> tuple[Note, str]:
    """The note that `pointer` leads into, and what it names there with its sign. Raises
    ToolRefused."""
    found = _POINTER.fullmatch(pointer.strip())
    notes = notes_in(scope_for(user)).select_related("vault")
    note = notes.filter(pk=int(found["note"])).first() if found else None
    if found is None or note is None:
        raise ToolRefused(
            "No section has this name. Take “section” from a result of the tool search."
        )
    return note, found["rest"]


def section_reply(user: User, pointer: str, *, below: bool, part: int) -> dict[str, Any]:
    """A section, or a part of it. Raises ToolRefused, with the sections that are there."""
    note, rest = note_of(user, pointer)
    if rest.startswith("@"):
        place = _place(note, rest)
        found = read_section(note, section_at(note, place.start), with_below=below)
    else:
        found = read_section(note, [rest[1:]], with_below=below)
    if found is None:
        raise ToolRefused(
            f"“{note.path}” has no section “{rest[1:]}” (any more). Choose one of “sections”.",
            sections=_sections(note),
        )
    parts = split_parts(found.text)
    if part > len(parts):
        raise ToolRefused(f"The section has {len(parts)} parts.")
    reply: dict[str, Any] = {
        "section": pointer_to(note, found.path),
        "breadcrumb": breadcrumb(note, found.path),
        "text": parts[part - 1],
    }
    if len(parts) > 1:
        reply["part"] = f"{part} of {len(parts)}"
    if found.below:
        reply["below"] = [pointer_to(note, each) for each in found.below][:MOST_LISTED]
    return reply


def window_reply(user: User, pointer: str, *, steps: int) -> dict[str, Any]:
    """The sentences around a place, or those so many `steps` after or (negative) before them,
    and on which sides the section has more. Raises ToolRefused, with the sections of the note
    where it has no such text (any more).

    Small on purpose: whoever has the pointer was told where it stands, and steps on with it.
    """
    note, rest = note_of(user, pointer)
    if not rest.startswith("@"):
        raise ToolRefused(
            "“around” needs a pointer to a place, as a search gives it: this one names a "
            "whole section."
        )
    found = read_window(note, _place(note, rest))
    for taken in range(abs(steps)):
        if found is None:
            break
        beside = found.after if steps > 0 else found.before
        if beside is None:
            way = "after" if steps > 0 else "before"
            raise ToolRefused(f"The section has no more than {taken} steps {way} this place.")
        found = read_window(note, beside)
    if found is None:
        raise ToolRefused(f"There is no text at this place of “{note.path}”.")
    sides = [name for name in ("before", "after") if getattr(found, name) is not None]
    return {"text": found.text} | ({"more": " and ".join(sides)} if sides else {})


def _place(note: Note, rest: str) -> Place:
    place = read_place(rest[1:])
    if place is None or not place.is_in(note.body):
        raise ToolRefused(
            f"“{note.path}” has not the text that was found there any more. Search again, or "
            "choose one of “sections”.",
            sections=_sections(note),
        )
    return place


def _sections(note: Note) -> list[str]:
    return [pointer_to(note, section.path) for section in sections_in(note)][:MOST_LISTED]
