"""Candidates become hits: one row a note, and of copies one row, with where the others are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.utils import timezone

from retrieval.core.copies import Family, Telling, families, one_a_note, what_is_said
from retrieval.core.fusion import arm_labels, best_per_note
from retrieval.core.note_day import note_day
from retrieval.core.snippets import code_snippet, make_snippet
from retrieval.core.standing import outdated_by, standing_of
from retrieval.core.telling import telling_span
from retrieval.core.types import Candidate, Copy, Hit
from vault.access import notes_in
from vault.core.places import Place, place_of
from vault.core.types import NoteKind, Scope
from vault.models import Chunk, Note

# Notes looked at for each hit wanted. Copies score alike and come close together: where there
# are some, everything that was found is looked at.
_OVERFETCH = 2


@dataclass(frozen=True, slots=True)
class Hits:
    """Hits, best first; whether some note was left out because another says the same."""

    hits: tuple[Hit, ...]
    has_copies: bool = False


@dataclass(frozen=True, slots=True)
class _Loaded:
    """Notes and chunks by id, as far as the scope allows."""

    notes: Mapping[int, Note]
    chunks: Mapping[int, Chunk]


def load_hits(
    candidates: Sequence[Candidate],
    *,
    scope: Scope,
    words: Sequence[str],
    asked: Sequence[str] = (),
    most: int,
) -> Hits:
    """At most `most` rows, a note each. What vanished since, or may not be read, is left out,
    as a hit and as a copy of one.

    `candidates`: ranked, any number for a note. `words` are marked; `asked`: those of the
    query, for which of several copies leads.
    """
    first = best_per_note(candidates)
    loaded = _load(first[: most * _OVERFETCH], scope=scope)
    found = families(_tellings(first, loaded), asked=asked)
    has_copies = any(family.others for family in found)
    if has_copies:
        loaded = _load(candidates, scope=scope)
        found = families(_tellings(candidates, loaded), asked=asked)
    kept = one_a_note(found)[:most]
    hits = [_hit(rank, family, loaded, words) for rank, family in enumerate(kept, start=1)]
    return Hits(tuple(hits), has_copies)


def list_hits(candidates: Sequence[Candidate], *, scope: Scope) -> tuple[Hit, ...]:
    """A row for each of `candidates`, in order: a list of notes leaves no copy out."""
    loaded = _load(candidates, scope=scope)
    told = [Family(telling, telling.candidate) for telling in _tellings(candidates, loaded)]
    return tuple(_hit(rank, family, loaded, ()) for rank, family in enumerate(told, start=1))


def _load(candidates: Sequence[Candidate], *, scope: Scope) -> _Loaded:
    notes = (
        notes_in(scope)
        .filter(pk__in={candidate.note_id for candidate in candidates})
        .select_related("vault")
        .defer("body", "headings", "lookup_keys")
    )
    chunks = Chunk.objects.filter(
        vault_id__in=scope.vault_ids, pk__in=[candidate.chunk_id for candidate in candidates]
    ).only("pk", "note_id", "heading_path", "content", "summary", "start", "end")
    return _Loaded(
        {note.pk: note for note in notes},
        {chunk.pk: chunk for chunk in chunks},
    )


def _tellings(candidates: Iterable[Candidate], loaded: _Loaded) -> list[Telling]:
    today = timezone.localdate()
    present = [(c, loaded.notes[c.note_id]) for c in candidates if c.note_id in loaded.notes]
    return [
        Telling(
            candidate,
            _said(loaded.chunks.get(candidate.chunk_id), note),
            title=note.title,
            path=note.path,
            modified=note.file_modified,
            is_outdated=bool(outdated_by(note.properties, today=today)[0]),
        )
        for candidate, note in present
    ]


def _said(chunk: Chunk | None, note: Note) -> str:
    if chunk is None:
        return ""
    return what_is_said(chunk.content, title=note.title, heading_path=chunk.heading_path)


def _hit(rank: int, family: Family, loaded: _Loaded, words: Sequence[str]) -> Hit:
    candidate = family.candidate
    note, chunk = loaded.notes[candidate.note_id], loaded.chunks.get(candidate.chunk_id)
    is_code = note.kind == NoteKind.CODE
    show = code_snippet if is_code else make_snippet
    snippet = show(chunk.content if chunk else "", words)
    return Hit(
        rank=rank,
        note_id=note.pk,
        vault_slug=note.vault.slug,
        vault_name=note.vault.name,
        path=note.path,
        title=note.title,
        heading_path=tuple(chunk.heading_path) if chunk else (note.title,),
        snippet=snippet.text,
        span=_span(chunk),
        arms=arm_labels(candidate),
        updated=note.file_modified,
        day=note_day(note.properties, note.path, changed=timezone.localdate(note.file_modified)),
        score=candidate.score,
        marks=snippet.marks,
        standing=standing_of(note.properties),
        summary=chunk.summary if chunk else "",
        around=_place(chunk, words) if chunk else None,
        is_code=is_code,
        also_in=tuple(_copy(telling, loaded) for telling in family.others),
    )


def _copy(telling: Telling, loaded: _Loaded) -> Copy:
    note = loaded.notes[telling.note_id]
    return Copy(
        note_id=note.pk,
        vault_slug=note.vault.slug,
        path=note.path,
        title=note.title,
        span=_span(loaded.chunks.get(telling.candidate.chunk_id)),
        is_outdated=telling.is_outdated,
    )


def _span(chunk: Chunk | None) -> tuple[int, int]:
    return (chunk.start, chunk.end) if chunk else (0, 0)


def _place(chunk: Chunk, words: Sequence[str]) -> Place | None:
    """Where the sentences stand that tell most. None where the passage is not its text word
    for word: a part of a long table or fence repeats what opened it."""
    if len(chunk.content) != chunk.end - chunk.start:
        return None
    start, end = telling_span(chunk.content, words)
    return place_of(chunk.content[start:end], chunk.start + start)
