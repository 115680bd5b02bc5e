"""Notes of the days that a question speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.utils import timezone

from retrieval.core import sql
from retrieval.core.dates import dates_in
from retrieval.core.query import ParsedQuery
from retrieval.core.sql import fill
from retrieval.core.types import Candidate
from retrieval.filters import list_notes
from vault.core.types import Scope


def on_days(query: ParsedQuery) -> tuple[str, dict[str, Any]]:
    """The condition on note `n` to be of the days that `query` speaks of, and its values;
    "" where it speaks of none."""
    conditions = []
    values: dict[str, Any] = {"zone": timezone.get_current_timezone_name()}
    for number, each in enumerate(dates_in(query.text, today=timezone.localdate())):
        conditions.append(fill(sql.ON_DAYS, day=sql.NOTE_DAY, number=number))
        values |= {f"first_{number}": each.first.isoformat()}
        values |= {f"last_{number}": each.last.isoformat()}
    return " OR ".join(conditions), values


def notes_of_days(
    query: ParsedQuery, *, scope: Scope, limit: int, among: Sequence[Candidate] = ()
) -> tuple[Candidate, ...]:
    """The notes of the days that `query` speaks of, at most `limit`: those `among` as they
    were found, then the newest, each by its first chunk. All have `dated` set; scores fall."""
    days, values = on_days(query)
    if not days:
        return ()
    first = [candidate.note_id for candidate in among]
    rows = list_notes(query, scope=scope, limit=limit, only=(days, values), first=first)
    dated = {note_id for note_id, _chunk in rows}
    found = [candidate for candidate in among if candidate.note_id in dated]
    known = {candidate.note_id for candidate in found}
    rest = [
        Candidate(chunk_id=chunk_id, note_id=note_id, score=0.0)
        for note_id, chunk_id in rows
        if note_id not in known
    ]
    every = [*found, *rest][: max(limit, len(found))]
    return tuple(
        replace(each, dated=True, score=(len(every) - place) / len(every))
        for place, each in enumerate(every)
    )
