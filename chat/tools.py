"""The tools carried out: with the asker's rights at that moment, never wider than the question.

A call reaches the vaults that the question searches, and of them the folders and tags that
it names. Whatever a tool gives is a passage of a note: numbered, kept and citable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.contrib.auth import get_user_model
from django.utils import timezone

from chat.core.tools import MOST_PASSAGES, READ, SEARCH, Wanted
from chat.database import in_database, release_connection
from chat.history import Turn
from chat.models import Source
from chat.narrowing import narrow
from chat.options import TurnOptions
from chat.providing import Providing
from retrieval.core.filters import Filter
from retrieval.core.note_day import note_day
from retrieval.core.types import Passage
from retrieval.filters import fitting
from vault.access import notes_in, scope_for
from vault.core.headings import path_at
from vault.core.names import lookup_key
from vault.core.tokens import estimate_tokens
from vault.core.types import Scope
from vault.models import Note
from vault.related import related_notes
from vault.sections import PART_TOKENS, read_section, section_at, sections_in, split_parts

DEFAULT_PASSAGES = 5
MOST_SIMILAR = 5
# Tokens of a similar note's beginning: enough to see what it is about.
GLIMPSE_TOKENS = 150
MOST_LISTED = 40


class ToolFailed(Exception):
    """Nothing came of a call; `str()` tells the model why and what may help."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a tool gives: passages without their numbers yet, and what is to be said of it."""

    passages: tuple[Passage, ...] = ()
    notices: tuple[str, ...] = ()
    retrieval_run: int | None = None


@dataclass(frozen=True, slots=True)
class Toolbox:
    """What tools work with: the question, its options and what stands in place of models."""

    turn: Turn
    options: TurnOptions
    providing: Providing

    async def carry_out(self, wanted: Wanted, sources: Sequence[Source], *, room: int) -> Found:
        """What `wanted` gives, in about `room` tokens at most; `sources` are the passages so
        far. Raises ToolFailed. Cancelling cancels the search."""
        if wanted.tool == SEARCH:
            return await self._search(wanted, room)
        return await in_database(self.look_into, wanted, sources)

    async def _search(self, wanted: Wanted, room: int) -> Found:
        scope, filters = await in_database(self._reach)
        knobs = self.options.knobs
        try:
            found = await self.providing.retrieve(
                wanted.text("query"),
                history=(),
                scope=scope,
                knobs=replace(
                    knobs,
                    passages=wanted.number("limit", min(DEFAULT_PASSAGES, MOST_PASSAGES)),
                    token_budget=min(knobs.token_budget, room),
                    filters=(*filters, *wanted.filters),
                ),
                user_id=self.turn.user_id,
            )
        finally:
            await release_connection()
        return Found(found.passages, found.notices, found.run_id)

    def look_into(self, wanted: Wanted, sources: Sequence[Source]) -> Found:
        """What the tools give that begin at a note. Raises ToolFailed."""
        scope, filters = self._reach()
        note, at = _note_of(wanted.text("note"), sources, scope)
        if note is None or not fitting([note.pk], filters, scope):
            raise ToolFailed(
                f"There is no note “{wanted.text('note')}” among those that may be searched. "
                f"Name one by the number of a passage, or find it with {SEARCH}."
            )
        if wanted.tool == READ:
            return _read(wanted, note, at)
        return _similar(note, scope, filters)

    def _reach(self) -> tuple[Scope, tuple[Filter, ...]]:
        """What the asker may read now of what the question searches."""
        user = get_user_model().objects.get(pk=self.turn.user_id)
        scope = scope_for(user, self.options.vaults)
        return scope, narrow(self.turn.question, scope).filters


def _note_of(place: str, sources: Sequence[Source], scope: Scope) -> tuple[Note | None, int | None]:
    """The note that a place names, and the offset of the passage where it is a number."""
    readable = notes_in(scope).select_related("vault")
    number = place.strip("[] ")
    if number.isascii() and number.isdigit() and len(number) < 6:
        named = next((source for source in sources if source.number == int(number)), None)
        if named is not None and named.note_id is not None:
            return readable.filter(pk=named.note_id).first(), named.start
    wanted = place.strip().removeprefix("[[").removesuffix("]]")
    named_so = readable.filter(lookup_keys__contains=[lookup_key(wanted)]).order_by("path", "pk")
    return named_so.first(), None


def _read(wanted: Wanted, note: Note, at: int | None) -> Found:
    """The section around a passage or under a heading; without either, the note itself."""
    heading = wanted.text("heading")
    if heading:
        section = read_section(note, [heading])
    else:
        section = read_section(note, section_at(note, at)) if at is not None else None
    if section is None and heading:
        listed = "; ".join(each.path[-1] for each in sections_in(note)[:MOST_LISTED])
        raise ToolFailed(
            f"“{note.path}” has no heading “{heading}”. "
            + (f"It has: {listed}." if listed else "It has none: leave the heading out.")
        )
    text, start = (section.text, section.start) if section else (note.body.rstrip(), 0)
    parts = split_parts(text, most=PART_TOKENS)
    part = wanted.number("part", 1)
    if part > len(parts):
        raise ToolFailed(f"This has {len(parts)} parts.")
    start += sum(map(len, parts[: part - 1]))
    said = (f"This is part {part} of {len(parts)}.",) if len(parts) > 1 else ()
    passage = _passage(note, start, parts[part - 1].rstrip(), arm="read whole")
    return Found((passage,) if passage.text else (), said)


def _similar(note: Note, scope: Scope, filters: Sequence[Filter]) -> Found:
    """The beginnings of the notes that read most like it."""
    near = related_notes(note, scope=scope, limit=MOST_SIMILAR)
    fit = fitting([each.pk for each, _likeness in near], filters, scope)
    passages = tuple(
        _passage(each, 0, split_parts(each.body, most=GLIMPSE_TOKENS)[0].rstrip(), arm="similar")
        for each, _likeness in near
        if each.pk in fit
    )
    said = () if near else ("The note, or every other one, has no vector yet.",)
    return Found(tuple(passage for passage in passages if passage.text), said)


def _passage(note: Note, start: int, text: str, *, arm: str) -> Passage:
    """`text` of the note's body from `start` on; it gets its number when it is kept."""
    blank = len(text) - len(text.lstrip("\n"))
    start, text = start + blank, text[blank:]
    return Passage(
        number=0,
        chunk_ids=(),
        note_id=note.pk,
        vault_slug=note.vault.slug,
        vault_name=note.vault.name,
        path=note.path,
        title=note.title,
        heading_path=path_at(note.headings, note.title, offset=start),
        text=text,
        start=start,
        end=start + len(text),
        tokens=estimate_tokens(text),
        score=0.0,
        arms=(arm,),
        updated=note.file_modified,
        day=note_day(note.properties, note.path, changed=timezone.localdate(note.file_modified)),
        properties=note.properties,
    )
