"""Winners become numbered passages: neighbours, exact text, places, dates."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import connection
from django.utils import timezone

from retrieval.core.copies import Telling, families
from retrieval.core.expansion import Group, Piece, fit_texts, plan_passages
from retrieval.core.fusion import arm_labels, cap_per_note
from retrieval.core.note_day import note_day
from retrieval.core.sql import fill
from retrieval.core.standing import outdated_by
from retrieval.core.types import Candidate, Copy, Knobs, Passage
from retrieval.linked import linked_groups
from vault.core.headings import shared_path
from vault.core.tokens import estimate_tokens
from vault.core.types import Scope
from vault.querysets import folder_condition

# Winners looked at for each passage wanted: what does not fit makes room for the next.
_OVERFETCH = 4


@dataclass(frozen=True, slots=True)
class _Place:
    """The text of a group and the note it stands in."""

    text: str
    title: str
    path: str
    vault_slug: str
    vault_name: str
    modified: datetime
    properties: dict[str, Any]


def expand(
    candidates: Sequence[Candidate], *, scope: Scope, knobs: Knobs, asked: Sequence[str] = ()
) -> tuple[Passage, ...]:
    """Passages for the best of `candidates`, numbered from 1, within the token budget.

    The text is cut from the note's body by its span, so that it can be shown in place.
    What vanished since the search is left out. Of notes that say the same one is chosen, as
    search chooses (`asked`: the words of the query), and the others are told with it.
    """
    chosen = _choose(candidates, scope=scope, knobs=knobs, asked=asked)
    if not chosen.winners:
        return ()
    groups = plan_passages(chosen.winners, chosen.pieces, knobs)
    room = knobs.token_budget - sum(group.tokens for group in groups)
    groups += linked_groups(groups, scope=scope, room=room, with_links=knobs.linked_notes)
    places = _load_places(groups, scope=scope)
    present = [(group, places[number]) for number, group in enumerate(groups) if number in places]
    texts = fit_texts(
        [place.text for _, place in present],
        budget=knobs.token_budget,
        count_tokens=estimate_tokens,
    )
    kept = [
        (group, place, text) for (group, place), text in zip(present, texts, strict=True) if text
    ]
    numbers = {id(group): number for number, (group, _, _) in enumerate(kept, start=1)}
    return tuple(
        _passage(
            number,
            group,
            place,
            text,
            labels=_labels(group, numbers),
            also_in=chosen.copies_of(group),
        )
        for number, (group, place, text) in enumerate(kept, start=1)
    )


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Winners that say different things, their pieces and neighbours by chunk, for each
    winner's chunk the notes that say the same, and what of all that each note says."""

    winners: tuple[Candidate, ...] = ()
    pieces: Mapping[int, Piece] = field(default_factory=dict)
    copies: Mapping[int, tuple[Copy, ...]] = field(default_factory=dict)
    said_in: Mapping[int, frozenset[str]] = field(default_factory=dict)

    def copies_of(self, group: Group) -> tuple[Copy, ...]:
        """Each note once that says all that `group` says: one that shares a part of it may say
        the opposite in the rest."""
        found: dict[int, Copy] = {}
        for piece in group.pieces:
            for copy in self.copies.get(piece.chunk_id, ()):
                found.setdefault(copy.note_id, copy)
        said = {piece.said for piece in group.pieces}
        return tuple(copy for copy in found.values() if said <= self.said_in[copy.note_id])


def _choose(
    candidates: Sequence[Candidate], *, scope: Scope, knobs: Knobs, asked: Sequence[str]
) -> _Chosen:
    capped = cap_per_note(candidates, knobs.chunks_per_note)
    first = capped[: knobs.passages * _OVERFETCH]
    chosen = _without_copies(first, scope=scope, reach=knobs.neighbours, asked=asked)
    if chosen.copies and len(capped) > len(first):
        # They took the room of others.
        chosen = _without_copies(capped, scope=scope, reach=knobs.neighbours, asked=asked)
    return chosen


def _without_copies(
    winners: Sequence[Candidate], *, scope: Scope, reach: int, asked: Sequence[str]
) -> _Chosen:
    if not winners:
        return _Chosen()
    loaded = _load_pieces(winners, scope=scope, reach=reach)
    today = timezone.localdate()
    tellings = [
        Telling(
            winner,
            loaded.pieces[winner.chunk_id].said,
            title=note.title,
            path=note.path,
            modified=note.modified,
            is_outdated=bool(outdated_by(note.properties, today=today)[0]),
        )
        for winner in winners
        if winner.chunk_id in loaded.pieces
        for note in (loaded.notes[winner.note_id],)
    ]
    found = families(tellings, asked=asked)
    copies = {
        family.lead.candidate.chunk_id: tuple(_copy(each, loaded) for each in family.others)
        for family in found
        if family.others
    }
    said_in: dict[int, set[str]] = defaultdict(set)
    for piece in loaded.pieces.values() if copies else ():
        said_in[piece.note_id].add(piece.said)
    return _Chosen(
        tuple(family.candidate for family in found),
        loaded.pieces,
        copies,
        {note_id: frozenset(said) for note_id, said in said_in.items()},
    )


def _copy(telling: Telling, loaded: _Loaded) -> Copy:
    note, piece = loaded.notes[telling.note_id], loaded.pieces[telling.candidate.chunk_id]
    return Copy(
        note_id=telling.note_id,
        vault_slug=note.vault_slug,
        path=note.path,
        title=note.title,
        span=(piece.start, piece.end),
        is_outdated=telling.is_outdated,
    )


def _labels(group: Group, numbers: Mapping[int, int]) -> tuple[str, ...]:
    """How a passage was found: by its arms, or from which other passage."""
    if group.host is None:
        return arm_labels(group.lead)
    way = "embedded in" if group.is_embed else "linked from"
    return (f"{way} [{numbers[id(group.host)]}]",) if id(group.host) in numbers else (way,)


@dataclass(frozen=True, slots=True)
class _Note:
    """What decides which of several copies is chosen."""

    vault_slug: str
    path: str
    title: str
    modified: datetime
    properties: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Loaded:
    """Pieces by chunk, and the notes of the winners among them."""

    pieces: dict[int, Piece]
    notes: dict[int, _Note]


_PIECES = """
SELECT DISTINCT c.id, c.note_id, c.ordinal, c.start, c."end", c.tokens, c.content, c.heading_path
FROM vault_chunk w
JOIN vault_chunk c ON c.vault_id = w.vault_id AND c.note_id = w.note_id
    AND c.ordinal BETWEEN w.ordinal - %(reach)s AND w.ordinal + %(reach)s
JOIN vault_note n ON n.id = w.note_id
WHERE w.id = ANY(%(winners)s) AND w.vault_id = ANY(%(vaults)s) AND {opened}
"""

_NOTES = """
SELECT n.id, v.slug, n.path, n.title, n.file_modified, n.properties
FROM vault_note n JOIN vault_vault v ON v.id = n.vault_id
WHERE n.id = ANY(%(notes)s) AND n.vault_id = ANY(%(vaults)s) AND {opened}
"""


def _load_pieces(winners: Sequence[Candidate], *, scope: Scope, reach: int) -> _Loaded:
    """What of `winners` is there and may be read."""
    opened, rules = folder_condition(scope)
    values: dict[str, Any] = {
        "winners": [winner.chunk_id for winner in winners],
        "notes": list({winner.note_id for winner in winners}),
        "vaults": list(scope.vault_ids),
        "reach": reach,
    }
    with connection.cursor() as cursor:
        cursor.execute(fill(_NOTES, opened=opened), values | rules)
        notes = {row[0]: _note(row) for row in cursor.fetchall()}
        cursor.execute(fill(_PIECES, opened=opened), values | rules)
        pieces = (Piece(*row) for row in cursor.fetchall())
        return _Loaded({each.chunk_id: each for each in pieces if each.note_id in notes}, notes)


def _note(row: Sequence[Any]) -> _Note:
    _id, slug, path, title, modified, properties = row
    # Django leaves jsonb of a plain cursor as text.
    return _Note(slug, path, title, modified, json.loads(properties))


_PLACES = """
SELECT g.number, substr(n.body, g.start + 1, g.stop - g.start), n.title, n.path, v.slug, v.name,
    n.file_modified, n.properties
FROM unnest(%(notes)s::bigint[], %(starts)s::int[], %(stops)s::int[])
    WITH ORDINALITY AS g(note_id, start, stop, number)
JOIN vault_note n ON n.id = g.note_id
JOIN vault_vault v ON v.id = n.vault_id
WHERE n.vault_id = ANY(%(vaults)s) AND {opened}
"""


def _load_places(groups: Sequence[Group], *, scope: Scope) -> dict[int, _Place]:
    opened, rules = folder_condition(scope)
    values: dict[str, Any] = {
        "notes": [group.lead.note_id for group in groups],
        "starts": [group.start for group in groups],
        "stops": [group.end for group in groups],
        "vaults": list(scope.vault_ids),
    }
    with connection.cursor() as cursor:
        cursor.execute(fill(_PLACES, opened=opened), values | rules)
        rows = cursor.fetchall()
    return {row[0] - 1: _place(row) for row in rows}


def _place(row: Sequence[Any]) -> _Place:
    _number, text, title, path, slug, name, modified, properties = row
    return _Place(text, title, path, slug, name, modified, json.loads(properties))


def _passage(
    number: int,
    group: Group,
    place: _Place,
    text: str,
    *,
    labels: tuple[str, ...],
    also_in: tuple[Copy, ...],
) -> Passage:
    ordered = sorted(group.pieces, key=lambda piece: piece.ordinal)
    # Neighbours may stand under other headings, and a text that was cut leaves them out.
    paths = [piece.heading_path for piece in ordered if piece.start < group.start + len(text)]
    return Passage(
        number=number,
        chunk_ids=tuple(piece.chunk_id for piece in ordered),
        note_id=group.lead.note_id,
        vault_slug=place.vault_slug,
        vault_name=place.vault_name,
        path=place.path,
        title=place.title,
        heading_path=shared_path(paths, place.title),
        text=text,
        start=group.start,
        end=group.start + len(text),
        tokens=estimate_tokens(text),
        score=group.lead.score,
        arms=labels,
        updated=place.modified,
        day=note_day(place.properties, place.path, changed=timezone.localdate(place.modified)),
        properties=place.properties,
        also_in=also_in,
    )
