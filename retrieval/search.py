"""The search page's use case: one row a note, with the passage that was found."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from providers.models import EmbeddingModel
from retrieval.arms import deeper_than, search_queries
from retrieval.core.fusion import order
from retrieval.core.query import ParsedQuery, clean, parse_query
from retrieval.core.types import Arm, Candidate, Knobs, Mode, SearchResult
from retrieval.database import in_database
from retrieval.facts import ScopeFacts, scope_facts
from retrieval.filters import list_notes
from retrieval.hits import Hits, list_hits, load_hits
from retrieval.options import site_knobs
from retrieval.rerank import rerank
from retrieval.statements import find_in_text
from vault.core.language import common_words, text_config
from vault.core.types import Scope
from vault.models import Vault

MOST_RESULTS = 100
# Under this many notes found by keyword, the text itself is read as well.
FEW = 3
# So many copies of one passage may have crowded out further ones.
_MANY_COPIES = 10
# Short words are mostly the small change of a language.
_LONG_WORD = 4


async def search_notes(
    query: str,
    *,
    scope: Scope,
    mode: Mode,
    limit: int,
    knobs: Knobs | None = None,
    serving: EmbeddingModel | None = None,
) -> SearchResult:
    """Notes of `scope` for `query`, best first, at most `limit` (and MOST_RESULTS). Notes whose
    passages say the same are one hit.

    `knobs`: to be tried instead of the site's; `mode` is taken before theirs. `serving`: a
    model to be tried instead of those that serve.

    Any string is a query. An empty one, an empty scope and a limit under 1 find nothing,
    without a query to the database or a model.
    """
    started = time.monotonic()
    parsed = parse_query(query, operators=True)
    reason = _nothing_to_do(query, parsed, scope, limit)
    if reason:
        return SearchResult((), (Arm("keyword", ran=False, reason=reason),), {}, (reason,))
    wanted = min(limit, MOST_RESULTS)
    if parsed.is_filters_alone:
        return await in_database(_listed, parsed, scope=scope, wanted=wanted)
    plan = await in_database(_plan, scope, mode=mode, wanted=wanted, knobs=knobs, serving=serving)
    outcome = await _search(parsed, scope=scope, plan=plan, wanted=wanted)
    while _wants_more_of_copies(outcome, plan.knobs.depth, wanted):
        plan = replace(plan, knobs=replace(plan.knobs, depth=deeper_than(plan.knobs.depth)))
        outcome = await _search(parsed, scope=scope, plan=plan, wanted=wanted)
    timings = outcome.timings | {"total": _ms(started)}
    notices = (*reading_notices(parsed), *_notices(outcome.arms, mode))
    return SearchResult(outcome.found.hits, outcome.arms, timings, notices, plan.facts.slugs)


@dataclass(frozen=True, slots=True)
class _Plan:
    facts: ScopeFacts
    knobs: Knobs


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Hits, and how many candidates they were chosen from."""

    found: Hits
    count: int
    arms: tuple[Arm, ...]
    timings: dict[str, float]


def _wants_more_of_copies(outcome: _Outcome, depth: int, wanted: int) -> bool:
    """Whether copies took the room of other notes, or are so many that some were not met, and
    there may be more."""
    found = outcome.found
    is_short = found.has_copies and len(found.hits) < wanted
    has_many = any(len(hit.also_in) >= _MANY_COPIES for hit in found.hits)
    return (is_short or has_many) and depth <= outcome.count and depth < deeper_than(depth)


async def _search(parsed: ParsedQuery, *, scope: Scope, plan: _Plan, wanted: int) -> _Outcome:
    found = await search_queries([parsed], scope=scope, facts=plan.facts, knobs=plan.knobs)
    arms, timings, ranked = list(found.arms), dict(found.timings), found.lists[0]
    if plan.knobs.rerank:
        began = time.monotonic()
        reranked = await rerank(
            parsed.text, order(ranked), scope=scope, user_id=scope.user_id or None
        )
        ranked = reranked.candidates
        arms.append(reranked.arm)
        timings["rerank"] = _ms(began)
    in_text = await _text_arm(parsed, ranked, scope=scope, plan=plan, wanted=wanted)
    arms.append(in_text.arm)
    hits = await in_database(
        load_hits,
        _ranked(ranked, in_text.candidates, parsed),
        scope=scope,
        words=words_to_mark(parsed, found.terms),
        asked=parsed.words,
        most=wanted,
    )
    return _Outcome(hits, len(ranked), tuple(arms), timings)


def _listed(query: ParsedQuery, *, scope: Scope, wanted: int) -> SearchResult:
    """Notes that filters alone name: there is nothing to rank by, so the newest come first."""
    started = time.monotonic()
    found = [
        Candidate(chunk_id=chunk_id, note_id=note_id, score=0.0)
        for note_id, chunk_id in list_notes(query, scope=scope, limit=wanted)
    ]
    hits = list_hits(found, scope=scope)
    reason = _("The query has filters alone.")
    skipped = [Arm(name, ran=False, reason=reason) for name in ("keyword", "meaning", "title")]
    arms = (Arm("filter", ran=True, found=len(hits), path="newest first"), *skipped)
    slugs = Vault.every.filter(pk__in=scope.vault_ids).order_by("pk")
    searched = tuple(slugs.values_list("slug", flat=True))
    return SearchResult(hits, arms, {"total": _ms(started)}, (), searched)


@dataclass(frozen=True, slots=True)
class _InText:
    candidates: tuple[Candidate, ...]
    arm: Arm


def _plan(
    scope: Scope,
    *,
    mode: Mode,
    wanted: int,
    knobs: Knobs | None,
    serving: EmbeddingModel | None,
) -> _Plan:
    knobs = knobs or site_knobs()
    depth = max(knobs.depth, wanted * knobs.overfetch)
    return _Plan(scope_facts(scope, serving), replace(knobs, mode=mode, depth=depth))


def _nothing_to_do(query: str, parsed: ParsedQuery, scope: Scope, limit: int) -> str:
    if not clean(query) or limit < 1:
        return _("Nothing was asked.")
    if parsed.is_exclusions_alone:
        return _(
            "A search needs something to find beside what it leaves out. To search for a text "
            "that begins with a minus, put it in quotes."
        )
    if scope.narrowed_to_nothing:
        return _("The filters leave no vault to search.")
    if not scope:
        return _("There is no vault that you may read.")
    return ""


async def _text_arm(
    query: ParsedQuery, found: Sequence[Candidate], *, scope: Scope, plan: _Plan, wanted: int
) -> _InText:
    """Where the query stands as typed: for names that are stop words, and parts of words."""
    notes = {c.note_id for c in found if c.exact or c.lexical_rank is not None}
    reason = ""
    if plan.knobs.mode == Mode.SEMANTIC:
        reason = _("Search by meaning alone was asked for.")
    elif len(notes) >= FEW:
        reason = _("Keywords found enough.")
    elif not plan.facts.is_readable:
        reason = _("Too much text here to read it all.")
    elif query.excludes:
        reason = _("Excluded words are for the other arms.")
    if reason:
        return _InText((), Arm("text", ran=False, reason=reason))
    candidates = await in_database(find_in_text, query, scope=scope, limit=wanted)
    arm = Arm("text", ran=True, found=len(candidates), path="substring")
    return _InText(candidates, arm)


def _ranked(
    found: Sequence[Candidate], in_text: Sequence[Candidate], query: ParsedQuery
) -> list[Candidate]:
    """In one order. Text as typed comes after names and keywords, before meaning.

    With signs in the query (`100%`), the text as typed is what tells two keyword hits
    apart, and comes before them.
    """
    literal = {candidate.note_id: candidate for candidate in in_text}
    ranked = [
        replace(c, in_text=c.note_id in literal and (query.has_signs or c.lexical_rank is None))
        for c in order(found)
    ]
    known = {candidate.note_id for candidate in ranked}
    fresh = [candidate for note_id, candidate in literal.items() if note_id not in known]

    def place(candidate: Candidate) -> int:
        if candidate.exact:
            return 0
        if candidate.in_text and query.has_signs:
            return 1
        if candidate.lexical_rank is not None:
            return 2
        return 3 if candidate.in_text else 4

    return sorted([*ranked, *fresh], key=place) if literal else ranked


def reading_notices(query: ParsedQuery) -> tuple[str, ...]:
    """How the query was read, where that is not what its signs say elsewhere."""
    return (*_quoted_notices(query), *_left_out_notices(query))


def _quoted_notices(query: ParsedQuery) -> tuple[str, ...]:
    if not query.quoted:
        return ()
    said = _(
        "The words in quotes are searched as a part of the question. For passages that have them "
        "word for word, search for the quoted words alone."
    )
    return (said,)


def _left_out_notices(query: ParsedQuery) -> tuple[str, ...]:
    """That the end of a long text is not searched, where it is so."""
    if not query.left_out:
        return ()
    searched = len(query.text)
    said = (
        _(
            "Only the first %(searched)d of %(all)d characters of the text were searched; all "
            "filters hold."
        )
        if query.operators
        else _("Only the first %(searched)d of %(all)d characters of the text were searched.")
    )
    return (said % {"searched": searched, "all": searched + query.left_out},)


def _notices(arms: Sequence[Arm], mode: Mode) -> tuple[str, ...]:
    """What a reader should know without opening the details."""
    chosen = {Mode.KEYWORD: ("keyword",), Mode.SEMANTIC: ("meaning",)}
    wanted = (*chosen.get(mode, ("keyword", "meaning")), "rerank")
    reasons = (arm.reason for arm in arms if arm.reason and arm.name in wanted)
    return tuple(dict.fromkeys(reasons))


def _ms(start: float) -> float:
    return round((time.monotonic() - start) * 1000, 1)


def words_to_mark(query: ParsedQuery, terms: Sequence[str]) -> tuple[str, ...]:
    """What a snippet marks: the lexemes searched, the words they come from, phrases; not
    the words that stand in every text.

    Without lexemes (search by meaning, a name that is a stop word), the longer words.
    """
    if not terms:
        longer = [word for word in query.words if len(word) >= _LONG_WORD] or query.words
        return (*longer, *query.phrases)
    told = _telling(query, terms)
    stems = tuple({term[: max(3, len(term) - 1)] for term in told})
    typed = [word for word in query.words if word.casefold().startswith(stems)]
    return (*told, *_telling(query, typed), *query.phrases)


def _telling(query: ParsedQuery, words: Sequence[str]) -> tuple[str, ...]:
    """`words` less those that every text of the query's language has; all, if it has no
    others."""
    language = text_config(query.text)
    rare = tuple(word for word in words if not common_words(word, language))
    return rare or tuple(words)
