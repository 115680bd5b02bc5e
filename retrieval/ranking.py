"""What a passage scores, as the last parts of the search statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from retrieval.core import path_sql, sql
from retrieval.core.foreign import foreign_to
from retrieval.core.query import ParsedQuery
from retrieval.core.sql import fill
from retrieval.core.standing import OUTDATED
from retrieval.core.types import Fusion, Knobs
from retrieval.dated import on_days
from retrieval.meaning import VectorArm, liked_parts
from retrieval.paths import CodePath

# What a note of the days that a question speaks of gains, as a share of the best score: it
# passes any hit of one arm alone of other days, and not one that is the best of both.
DATED_BONUS = 0.6


def ranked_parts(
    query: ParsedQuery,
    *,
    knobs: Knobs,
    vectors: Sequence[VectorArm],
    path: CodePath,
    has_identifiers: bool,
    note_rank: str,
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The fusion of what the parts before found, its order, and their values.

    `has_identifiers`: some are asked for. `note_rank`: SQL of the
    place of the whole note that brought a passage.
    """
    foreign, foreign_values = _foreign(query)
    dated, date_values = _dated(query, knobs)
    score = _score(knobs, code_leads=path.leads)
    liked = liked_parts(vectors, score=score) if knobs.fusion == Fusion.CONVEX else ()
    identified = fill(sql.IDENTIFIED, quoted_lexeme=sql.quoted("lexeme"))
    parts = (
        fill(
            sql.FUSED,
            meaning="reached" if path.runs else "meaning",
            foreign=foreign,
            identified=identified if has_identifiers else "0",
        ),
        *liked,
        fill(
            sql.PLACED,
            table="refined" if liked else "fused",
            score=score,
            weight=_weight(code_leads=path.leads and knobs.fusion == Fusion.CONVEX),
            bare=sql.BARE,
            dated=dated,
            as_typed=fill(sql.AS_TYPED, bonus=_best(knobs)) if query.has_signs else "0",
            held_bonus=sql.HELD_BONUS * _best(knobs),
            named_bonus=sql.NAMED_BONUS * _best(knobs),
            named=sql.NAMED,
            note_rank=note_rank,
            code_rank=fill(path_sql.CODE_RANK, table="placed") if path.runs else "NULL::bigint",
        ),
    )
    return parts, foreign_values | date_values


def _foreign(query: ParsedQuery) -> tuple[str, dict[str, Any]]:
    """The condition on chunk `c` for another language than that of the query."""
    foreign = foreign_to(query.text)
    values = {"foreign": list(foreign.configs), "script": foreign.present or foreign.absent}
    if not foreign.configs:
        return "FALSE", values
    by_script = sql.HAS_SCRIPT if foreign.present else sql.LACKS_SCRIPT
    return fill(sql.FOREIGN, by_script=by_script), values


def _dated(query: ParsedQuery, knobs: Knobs) -> tuple[str, dict[str, Any]]:
    """What a note of the days that the query speaks of gains, and the days."""
    today = timezone.localdate()
    values: dict[str, Any] = {
        "zone": timezone.get_current_timezone_name(),
        "today": today.isoformat(),
        "outdated": list(OUTDATED),
    }
    condition, day_values = on_days(query)
    if not condition:
        return "0", values
    values |= day_values
    bonus = DATED_BONUS * _best(knobs)
    return fill(sql.DATED, condition=condition, bonus=bonus), values


def _best(knobs: Knobs) -> float:
    """The score of what comes first in both arms."""
    return 2 / (knobs.rrf_k + 1) if knobs.fusion == Fusion.RRF else 1.0


def _score(knobs: Knobs, *, code_leads: bool) -> str:
    keywords = int(knobs.keyword_weight) / 100
    weights = {"keywords": keywords, "meaning": 1 - keywords}
    if knobs.fusion == Fusion.RRF:
        rank = fill(path_sql.CODE_RANK, table="fused")
        place = f"LEAST(fused.vector_rank, {rank})" if code_leads else "fused.vector_rank"
        return fill(sql.RRF, k=int(knobs.rrf_k), place=place, **weights)
    likeness = path_sql.CODE_SCALED if code_leads else "fused.meaning_scaled"
    return fill(sql.CONVEX, likeness=likeness, **weights)


def _weight(*, code_leads: bool) -> str:
    """What a score is multiplied by."""
    first = fill(path_sql.CODE_FIRST, text_weight=path_sql.TEXT_WEIGHT)
    return f"{sql.STANDING} * {first}" if code_leads else sql.STANDING
