"""From a question to numbered passages: condense, search, fuse, expand, keep the record."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from django.db import OperationalError
from django.utils import timezone
from django.utils.translation import gettext as _

from providers.core.types import ChatMessage
from providers.models import ChatModel
from retrieval.arms import deeper_than, search_queries
from retrieval.condense import condense
from retrieval.core.condensing import Condensed
from retrieval.core.fusion import fuse_queries
from retrieval.core.long_questions import questions_in, shorten
from retrieval.core.query import LONGEST_QUERY, ParsedQuery, clean, parse_query
from retrieval.core.standing import outdated_by
from retrieval.core.types import Arm, Candidate, Knobs, Passage, Retrieval
from retrieval.database import in_database
from retrieval.expansion import expand
from retrieval.facts import ScopeFacts, scope_facts
from retrieval.rerank import rerank
from retrieval.runs import store_run
from vault.core.types import Scope


@dataclass(slots=True)
class _Outcome:
    """What the search came to, as far as it got."""

    arms: tuple[Arm, ...] = ()
    candidates: list[Candidate] = field(default_factory=list)
    passages: tuple[Passage, ...] = ()
    searched: tuple[str, ...] = ()
    notices: list[str] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)


async def retrieve(
    question: str,
    *,
    history: Sequence[ChatMessage],
    scope: Scope,
    knobs: Knobs,
    user_id: int | None = None,
    model: ChatModel | None = None,
) -> Retrieval:
    """Passages of `scope` for `question`, and how they were found; stores a RetrievalRun.

    Whatever fails on the way is left out and named: an answer can always go on. `model`
    rewrites a follow-up. An empty scope or question touches neither database nor model.
    Cancelling cancels the SQL and the calls to models.
    """
    asked = shorten(question)
    if not asked or not scope:
        return _nothing(asked, scope, knobs)
    started = time.monotonic()
    condensed = await condense(asked, history=history, knobs=knobs, model=model, user_id=user_id)
    condensed_at = time.monotonic()
    condensed = _asking_first(condensed, question, searched=asked)
    outcome = await _search(condensed, scope=scope, knobs=knobs, user_id=user_id)
    retrieval = Retrieval(
        queries=condensed.queries,
        passages=outcome.passages,
        arms=outcome.arms,
        timings={
            "condense": _ms(started, condensed_at),
            **outcome.timings,
            "total": _ms(started, time.monotonic()),
        },
        searched_vaults=outcome.searched,
        mode=knobs.mode,
        notices=tuple(filter(None, (condensed.notice, *outcome.notices))),
    )
    run_id = await in_database(
        store_run,
        asked,
        retrieval,
        candidates=outcome.candidates,
        knobs=knobs,
        user_id=user_id,
    )
    return replace(retrieval, run_id=run_id)


def _asking_first(condensed: Condensed, question: str, *, searched: str) -> Condensed:
    """Of a message too long to be searched whole what it asks, then the part `searched`."""
    whole = clean(question, most=len(question))
    if len(whole) <= LONGEST_QUERY:
        return condensed
    notice = _(
        "The message has %(all)d characters: its questions, its end and its beginning were "
        "searched, %(searched)d in all."
    ) % {"all": len(whole), "searched": len(searched)}
    notice = " ".join(filter(None, (condensed.notice, notice)))
    asking = questions_in(question)
    if not asking or condensed.query != searched:
        return replace(condensed, notice=notice)
    return Condensed(asking, (searched, *condensed.alternates), notice)


async def _search(
    condensed: Condensed, *, scope: Scope, knobs: Knobs, user_id: int | None
) -> _Outcome:
    outcome = _Outcome()
    try:
        facts = await in_database(scope_facts, scope)
        outcome.searched = facts.slugs
        queries = [
            replace(parse_query(query), filters=knobs.filters) for query in condensed.queries
        ]
        await _find(outcome, queries, scope=scope, facts=facts, knobs=knobs, user_id=user_id)
        while _is_short_of_copies(outcome, knobs):
            knobs = replace(knobs, depth=deeper_than(knobs.depth))
            await _find(outcome, queries, scope=scope, facts=facts, knobs=knobs, user_id=user_id)
    except OperationalError as error:
        outcome.notices.append(
            _("The search was given up: the database said “%(error)s”.")
            % {"error": str(error).splitlines()[0] if str(error) else type(error).__name__}
        )
    outcome.notices += [arm.reason for arm in outcome.arms if _is_worth_saying(arm, knobs)]
    outcome.notices += _outdated(outcome.passages)
    return outcome


async def _find(
    outcome: _Outcome,
    queries: Sequence[ParsedQuery],
    *,
    scope: Scope,
    facts: ScopeFacts,
    knobs: Knobs,
    user_id: int | None,
) -> None:
    found = await search_queries(queries, scope=scope, facts=facts, knobs=knobs)
    outcome.arms, outcome.timings = found.arms, dict(found.timings)
    outcome.candidates = fuse_queries(found.lists, k=knobs.rrf_k)
    if knobs.rerank:
        await _rerank(outcome, queries[0].text, scope=scope, user_id=user_id)
    started = time.monotonic()
    outcome.passages = await in_database(
        expand, outcome.candidates, scope=scope, knobs=knobs, asked=queries[0].words
    )
    outcome.timings["expand"] = _ms(started, time.monotonic())


def _is_short_of_copies(outcome: _Outcome, knobs: Knobs) -> bool:
    """Whether copies took the room of passages that a deeper search may find."""
    has_copies = any(passage.also_in for passage in outcome.passages)
    is_full = knobs.depth <= len(outcome.candidates) and knobs.depth < deeper_than(knobs.depth)
    return has_copies and is_full and len(outcome.passages) < knobs.passages


def _outdated(passages: Sequence[Passage]) -> list[str]:
    """A sentence for each passage whose note says that it no longer holds."""
    today = timezone.localdate()
    said = [(passage.number, *outdated_by(passage.properties, today=today)) for passage in passages]
    return [
        _("[%(number)d] may no longer hold: its note says “%(name)s: %(value)s”.")
        % {"number": number, "name": name.replace("_", " "), "value": value}
        for number, name, value in said
        if name
    ]


async def _rerank(outcome: _Outcome, question: str, *, scope: Scope, user_id: int | None) -> None:
    started = time.monotonic()
    reranked = await rerank(question, outcome.candidates, scope=scope, user_id=user_id)
    outcome.candidates = list(reranked.candidates)
    outcome.arms = (*outcome.arms, reranked.arm)
    outcome.timings["rerank"] = _ms(started, time.monotonic())


def _is_worth_saying(arm: Arm, knobs: Knobs) -> bool:
    # That a question is not about source code, or that whole notes bring nothing, is no news.
    if not arm.reason or arm.name in {"code", "note"}:
        return False
    return arm.ran or arm.name == "rerank" or knobs.mode == "hybrid"


def _nothing(asked: str, scope: Scope, knobs: Knobs) -> Retrieval:
    """Nothing to search for, or nowhere to search."""
    if not asked:
        reason = _("Nothing was asked.")
    elif scope.narrowed_to_nothing:
        reason = _("The chosen vaults leave nothing to search.")
    else:
        reason = _("There is no vault that you may read.")
    arms = tuple(Arm(name, ran=False, reason=reason) for name in ("keyword", "meaning", "title"))
    return Retrieval(
        queries=(asked,) if asked else (),
        passages=(),
        arms=arms,
        timings={},
        searched_vaults=(),
        mode=knobs.mode,
        notices=(reason,),
    )


def _ms(start: float, end: float) -> float:
    return round((end - start) * 1000, 1)
