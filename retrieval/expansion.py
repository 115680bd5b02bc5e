"""Winners become numbered passages: neighbours, exact text, places, dates."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.utils import timezone

from retrieval.core.expansion import Group, Piece, fit_texts, plan_passages
from retrieval.core.fusion import arm_labels, cap_per_note
from retrieval.core.note_day import note_day
from retrieval.core.sql import fill
from retrieval.core.types import Candidate, Knobs, Passage
from retrieval.linked import linked_groups
from vault.core.headings import shared_path
from vault.core.tokens import estimate_tokens
from vault.core.types import Scope
from vault.querysets import folder_condition

# Winners looked at for each passage wanted: near-duplicates and notes that had their
# share make room for the next.
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


def expand(candidates: Sequence[Candidate], *, scope: Scope, knobs: Knobs) -> tuple[Passage, ...]:
    """Passages for the best of `candidates`, numbered from 1, within the token budget.

    The text is cut from the note's body by its span, so that it can be shown in place.
    What vanished since the search is left out.
    """
    winners = cap_per_note(candidates, knobs.chunks_per_note)[: knobs.passages * _OVERFETCH]
    if not winners:
        return ()
    pieces = _load_pieces(winners, scope=scope, reach=knobs.neighbours)
    groups = plan_passages(winners, pieces, knobs)
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
        _passage(number, group, place, text, labels=_labels(group, numbers))
        for number, (group, place, text) in enumerate(kept, start=1)
    )


def _labels(group: Group, numbers: Mapping[int, int]) -> tuple[str, ...]:
    """How a passage was found: by its arms, or from which other passage."""
    if group.host is None:
        return arm_labels(group.lead)
    way = "embedded in" if group.is_embed else "linked from"
    return (f"{way} [{numbers[id(group.host)]}]",) if id(group.host) in numbers else (way,)


_PIECES = """
SELECT DISTINCT c.id, c.note_id, c.ordinal, c.start, c."end", c.tokens, c.content, c.heading_path
FROM vault_chunk w
JOIN vault_chunk c ON c.vault_id = w.vault_id AND c.note_id = w.note_id
    AND c.ordinal BETWEEN w.ordinal - %(reach)s AND w.ordinal + %(reach)s
JOIN vault_note n ON n.id = w.note_id
WHERE w.id = ANY(%(winners)s) AND w.vault_id = ANY(%(vaults)s) AND {opened}
"""


def _load_pieces(winners: Sequence[Candidate], *, scope: Scope, reach: int) -> dict[int, Piece]:
    opened, rules = folder_condition(scope)
    values: dict[str, Any] = {
        "winners": [winner.chunk_id for winner in winners],
        "vaults": list(scope.vault_ids),
        "reach": reach,
    }
    with connection.cursor() as cursor:
        cursor.execute(fill(_PIECES, opened=opened), values | rules)
        return {row[0]: Piece(*row) for row in cursor.fetchall()}


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
    # Django leaves jsonb of a plain cursor as text.
    return {row[0] - 1: _place(row) for row in rows}


def _place(row: Sequence[Any]) -> _Place:
    _number, text, title, path, slug, name, modified, properties = row
    return _Place(text, title, path, slug, name, modified, json.loads(properties))


def _passage(
    number: int, group: Group, place: _Place, text: str, *, labels: tuple[str, ...]
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
    )
