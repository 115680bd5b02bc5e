"""Paths beside the arms of a search, as parts of its statement: source code by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.core import meaning_sql, path_sql
from retrieval.core.code_questions import CodeSign, code_sign, wants_code_alone
from retrieval.core.query import ParsedQuery
from retrieval.core.sql import fill
from retrieval.core.types import Knobs, Mode
from retrieval.facts import ScopeFacts
from retrieval.meaning import VectorArm, distance_of
from vault.vector_index import model_condition


@dataclass(frozen=True, slots=True)
class CodePath:
    """Whether source code is looked for by itself, and if not, why: "off" (the knob), "none"
    (no code here), "question" (it is about something else), "vectors" (nothing to compare).

    `leads`: the question asks for code, so that what is found comes first; otherwise it comes
    beside the rest.
    """

    runs: bool
    leads: bool = False
    why_not: str = ""
    limit: int = 0


def code_path(
    query: ParsedQuery, *, facts: ScopeFacts, knobs: Knobs, has_vectors: bool
) -> CodePath:
    """The code path for `query` in a scope of `facts`."""
    if not knobs.code_path:
        return CodePath(runs=False, why_not="off")
    if not facts.code:
        return CodePath(runs=False, why_not="none")
    if knobs.mode == Mode.KEYWORD or not has_vectors:
        return CodePath(runs=False, why_not="vectors")
    sign = code_sign(query.text)
    if sign is CodeSign.NONE and not wants_code_alone(query.filters):
        return CodePath(runs=False, why_not="question")
    wanted = max(knobs.passages, knobs.depth // knobs.overfetch)
    leads = sign is CodeSign.STRONG
    return CodePath(runs=True, leads=leads, limit=path_sql.code_limit(wanted))


def code_parts(
    vectors: Sequence[VectorArm], *, facts: ScopeFacts, filters: str, limit: int
) -> tuple[str, ...]:
    """The nearest of code, one list a model, put together. Their values: meaning_parts()."""
    near: list[str] = []
    lists: list[str] = []
    for number, arm in enumerate(vectors):
        parts = {"number": number, "filters": filters or "TRUE", "limit": int(limit)}
        if arm.query is None:
            lists.append(fill(path_sql.CODE_IN_MEMORY, **parts))
            continue
        template = path_sql.CODE_EXACTLY if facts.is_small else path_sql.CODE_BY_INDEX
        near.append(
            fill(
                template,
                **parts,
                few=path_sql.FEW_CODE,
                condition=model_condition(arm.model, table="v"),
                distance=distance_of(arm, number),
            )
        )
        lists.append(fill(meaning_sql.CURRENT, number=number, near=f"code_near_{number}"))
    code = fill(
        path_sql.CODE,
        lists="\nUNION ALL\n".join(f"({part})" for part in lists),
        near=path_sql.NEARLY,
    )
    return (*near, code)
