"""All arms of a search, run and accounted for."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.db import DataError, ProgrammingError
from django.utils import timezone
from django.utils.translation import gettext as _

from providers.core.protocols import Vectors
from providers.models import EmbeddingModel
from retrieval.core.dates import asks_for_days_alone, dates_in
from retrieval.core.fusion import best_by_meaning, best_per_note, order, without_far
from retrieval.core.query import ParsedQuery
from retrieval.core.types import Arm, Candidate, Knobs, Mode
from retrieval.database import in_database
from retrieval.dated import notes_of_days
from retrieval.facts import ScopeFacts
from retrieval.filters import narrows
from retrieval.meaning import VectorArm
from retrieval.memory import nearest_in_memory
from retrieval.paths import CodePath, code_path
from retrieval.query_vectors import QueryVectors, embed_queries
from retrieval.statements import Found, run_search
from vault.core.types import Scope
from vault.staleness import fingerprint

# Filters drop rows after the comparison in memory, and keyword hits want to be measured: it
# hands over this many times more.
_OVERFETCH = 4
# Best cosine, with the bundled embedder, of 2,499 questions that a set of notes answers: 0.25 or
# more for all but 0.4 %. Of 2,080 questions about something else 45 % are under it
# (docs/retrieval.md). A word or two have lower ones, and under 0.16. Other models have other
# scales: theirs is measured in the background (vault/noise.py), for whole questions alone, and
# lower than by hand.
FAR = {"local_e5": 0.25}
FAR_IN_SHORT = {"local_e5": 0.16}
# Of a word or two that stand nowhere here: made-up words lie at 0.19 to 0.40 from the nearest of
# a set of notes, words of other languages for what these speak of at 0.28 to 0.42.
FAR_IF_UNKNOWN = {"local_e5": 0.28}
# A single passage that meaning alone found, further off than this, is noise beside others.
STRAY = {"local_e5": 0.16}
_SHORT_WORDS = 2
# The sets that bars were measured on have 150 passages or more.
_A_FEW = 50
# Notes of the days asked for, where only the time says what is meant.
MOST_DATED = 20
# Share of a question, by idf, that the best keyword hit holds: 0.5 or more for 95 % of
# questions that are answered in the question's language.
MOST_OF_IT = 0.5

# Where copies leave too few, so many times more candidates are asked for.
_DEEPER, MOST_DEPTH = 8, 1_000

_Lists = tuple[tuple[Candidate, ...], ...]


@dataclass(frozen=True, slots=True)
class ArmsResult:
    """One ranked list a query, what each arm did, and milliseconds by stage.

    `terms`: the lexemes that keywords were looked for by.
    """

    lists: tuple[tuple[Candidate, ...], ...]
    arms: tuple[Arm, ...]
    terms: tuple[str, ...] = ()
    timings: dict[str, float] = field(default_factory=dict)


async def search_queries(
    queries: Sequence[ParsedQuery], *, scope: Scope, facts: ScopeFacts, knobs: Knobs
) -> ArmsResult:
    """Search `scope` for each query by the arms of `knobs.mode`.

    An arm that cannot run is skipped with its reason; the others go on. Raises
    OperationalError when the database itself fails.
    """
    started = time.monotonic()
    # The nearest passages to signs alone are noise.
    has_words = any(query.words for query in queries)
    models = facts.models if knobs.mode != Mode.KEYWORD and has_words else {}
    vectors = QueryVectors()
    if models:
        vectors = await embed_queries(
            [query.text for query in queries], models, user_id=scope.user_id or None
        )
    embedded = time.monotonic()
    searched = [
        await _search(query, number, scope=scope, facts=facts, knobs=knobs, vectors=vectors)
        for number, query in enumerate(queries)
    ]
    lists = tuple(outcome.found.candidates for outcome in searched)
    arms: tuple[Arm, ...] = (
        _keyword_arm(queries, [outcome.found for outcome in searched], knobs),
        _meaning_arm(lists, facts, knobs, vectors, searched[0].path if searched else "")
        if has_words or knobs.mode == Mode.KEYWORD
        else Arm("meaning", ran=False, reason=_("The query has no words.")),
        _note_arm(searched, lists, knobs, facts=facts),
        _code_arm(searched, lists),
        _title_arm(lists, knobs),
    )
    if knobs.mode == Mode.HYBRID:
        share = max((_share(outcome.found) for outcome in searched), default=0.0)
        is_known = any(_has_own_hit(outcome.found) for outcome in searched)
        bar = _bar(queries, facts, is_known=is_known)
        near, arms = _unless_far(lists, arms, bar=bar, share=share)
        near = without_far(near, bar=_least(STRAY, facts))
        lists = await _with_days(queries, lists, near, scope=scope)
    elif knobs.mode == Mode.KEYWORD:
        lists = await _with_days(queries, lists, lists, scope=scope)
    done = time.monotonic()
    timings = {"embed": _ms(started, embedded), "search": _ms(embedded, done)}
    terms = dict.fromkeys(term for outcome in searched for term in outcome.found.terms)
    return ArmsResult(lists, arms, tuple(terms), timings)


def deeper_than(depth: int) -> int:
    """How many candidates an arm is asked for after `depth` were copies for the most part."""
    return max(depth, min(MOST_DEPTH, depth * _DEEPER))


async def _with_days(
    queries: Sequence[ParsedQuery], found: _Lists, near: _Lists, *, scope: Scope
) -> _Lists:
    """Where nothing of `found` is `near`, or a query speaks of a time and of nothing else: the
    notes of the days it speaks of, those that were found first. A time is enough to go by."""
    today = timezone.localdate()
    lists = []
    for query, every, kept in zip(queries, found, near, strict=True):
        if kept and not asks_for_days_alone(query.text, today=today):
            lists.append(kept)
            continue
        dated = await in_database(
            notes_of_days, query, scope=scope, limit=MOST_DATED, among=best_per_note(order(every))
        )
        lists.append(dated or kept)
    return tuple(lists)


def _bar(queries: Sequence[ParsedQuery], facts: ScopeFacts, *, is_known: bool) -> float:
    """The cosine under which nothing is near to any of `queries`, by the most patient model.

    `is_known`: some word of theirs stands in what was found.
    """
    different = ({word.casefold() for word in query.words} for query in queries)
    if all(len(words) > _SHORT_WORDS for words in different):
        # The nearest of a few passages is further off, and a "nothing here" is worse there.
        if facts.chunks < _A_FEW:
            return _least(FAR_IN_SHORT, facts)
        return min((_far(model) for model in facts.models), default=0.0)
    return _least(FAR_IN_SHORT if is_known else FAR_IF_UNKNOWN, facts)


def _least(bars: Mapping[str, float], facts: ScopeFacts) -> float:
    """The lowest bar of the models of the scope; none where one has no measured bar."""
    return min((bars.get(model.provider.kind, 0.0) for model in facts.models), default=0.0)


def _far(model: EmbeddingModel) -> float:
    """The bar of `model` for a whole question; none while it was not measured as it is now."""
    if model.provider.kind in FAR:
        return FAR[model.provider.kind]
    if model.noise_bar is None or model.noise_space != fingerprint(model):
        return 0.0
    return model.noise_bar


def _share(found: Found) -> float:
    """How much of a question its best keyword hit holds; nothing without a hit of its own."""
    return found.share if _has_own_hit(found) else 0.0


def _has_own_hit(found: Found) -> bool:
    """Whether keywords found a word as it was typed.

    Words that were taken for others are no sign that anything here is meant: each has some
    neighbour in a large vocabulary.
    """
    taken = {spelling.rsplit(" ", 1)[-1] for spelling in found.mended}
    has_hit = any(candidate.lexical_rank is not None for candidate in found.candidates)
    return has_hit and not taken.issuperset(found.terms)


def _unless_far(
    lists: _Lists, arms: tuple[Arm, ...], *, bar: float, share: float
) -> tuple[_Lists, tuple[Arm, ...]]:
    """Nothing, and why, where even the nearest passage is under `bar` and the best keyword
    hit holds less than MOST_OF_IT of the question (`share`).

    A vector search always has a nearest row; handing it over would look like an answer.
    """
    best = best_by_meaning(lists)
    if best is None or best >= bar or share >= MOST_OF_IT:
        return lists, arms
    said = (
        _("Few words match and nothing here is near in meaning (best similarity %(best).2f).")
        if share
        else _("No word matched and nothing here is near in meaning (best similarity %(best).2f).")
    )
    told = tuple(
        replace(arm, reason=" ".join(filter(None, (said % {"best": best}, arm.reason))))
        if arm.name == "meaning"
        else arm
        for arm in arms
    )
    return tuple(() for _ranked in lists), told


@dataclass(frozen=True, slots=True)
class _Searched:
    found: Found
    path: str
    code: CodePath
    has_vectors: bool


async def _search(
    query: ParsedQuery,
    number: int,
    *,
    scope: Scope,
    facts: ScopeFacts,
    knobs: Knobs,
    vectors: QueryVectors,
) -> _Searched:
    """One query. Where the database cannot compare vectors, memory does."""
    facts = facts.narrowed(narrows=narrows(query, scope))
    rows = {model: rows[number] for model, rows in vectors.by_model.items()}
    code = code_path(query, facts=facts, knobs=knobs, has_vectors=bool(rows))

    def in_sql() -> _Searched:
        arms = [VectorArm(m, facts.models[m], query=vector) for m, vector in rows.items()]
        found = run_search(query, scope=scope, facts=facts, knobs=knobs, vectors=arms)
        path = "signs" if found.by_signs else "exact" if facts.is_small else "hnsw"
        return _Searched(found, path, code, bool(arms))

    def in_memory() -> _Searched:
        limits = {"limit": knobs.depth * _OVERFETCH, "code_limit": code.limit * _OVERFETCH}
        arms = [_compared_in_memory(m, v, facts, **limits) for m, v in rows.items()]
        found = run_search(query, scope=scope, facts=facts, knobs=knobs, vectors=arms)
        return _Searched(found, "exact in memory", code, bool(arms))

    if not facts.has_halfvec:
        return await in_database(in_memory)
    try:
        return await in_database(in_sql)
    except (DataError, ProgrammingError):
        # Vectors of another length under this model, or an operator that is gone.
        return await in_database(in_memory)


def _compared_in_memory(
    model: EmbeddingModel, vector: Vectors, facts: ScopeFacts, *, limit: int, code_limit: int
) -> VectorArm:
    vault_ids = facts.models[model]
    found = nearest_in_memory(
        vector, model=model, vault_ids=vault_ids, limit=limit, code_limit=code_limit
    )
    return VectorArm(model, vault_ids, found=found)


def _keyword_arm(queries: Sequence[ParsedQuery], found: Sequence[Found], knobs: Knobs) -> Arm:
    if knobs.mode == Mode.SEMANTIC:
        return Arm("keyword", ran=False, reason=_("Search by meaning alone was asked for."))
    count = _count(candidate.lexical_rank for each in found for candidate in each.candidates)
    mended = sorted({spelling for each in found for spelling in each.mended})
    notes = []
    if mended:
        notes.append(_("Spelling: %(words)s.") % {"words": ", ".join(mended)})
    days = dict.fromkeys(said for query in queries for said in _days_meant(query))
    if days:
        notes.append(
            _("Notes of the days asked for come first: %(days)s.") % {"days": "; ".join(days)}
        )
    if not count and not any(query.words for query in queries):
        notes.append(_("The query has no words."))
    return Arm("keyword", ran=True, reason=" ".join(notes), found=count, path="bm25")


def _days_meant(query: ParsedQuery) -> list[str]:
    """How each time in the query is read: "last week = 2026-11-23 to 2026-11-29"; where it is
    read in two ways, both."""
    read: dict[str, list[str]] = {}
    for each in dates_in(query.text, today=timezone.localdate()):
        days = str(each.first)
        if each.first < each.last:
            days = _("%(first)s to %(last)s") % {"first": each.first, "last": each.last}
        read.setdefault(each.words, []).append(days)
    either = _(" or ")
    return [f"{words} = {either.join(days)}" for words, days in read.items() if days != [words]]


def _meaning_arm(
    lists: Sequence[Sequence[Candidate]],
    facts: ScopeFacts,
    knobs: Knobs,
    vectors: QueryVectors,
    path: str,
) -> Arm:
    if knobs.mode == Mode.KEYWORD:
        return Arm("meaning", ran=False, reason=_("Search by keyword alone was asked for."))
    reason = " ".join((*vectors.reasons, *facts.gaps()))
    if not vectors.by_model:
        return Arm("meaning", ran=False, reason=reason or _("Nothing here has vectors."))
    count = _count(candidate.vector_rank for found in lists for candidate in found)
    return Arm("meaning", ran=True, reason=reason, found=count, path=path)


def _note_arm(
    searched: Sequence[_Searched],
    lists: Sequence[Sequence[Candidate]],
    knobs: Knobs,
    *,
    facts: ScopeFacts,
) -> Arm:
    """How many whole notes brought passages to those that the index found, or why none did."""
    by_index = [outcome for outcome in searched if outcome.path == "hnsw" and outcome.has_vectors]
    if any(outcome.found.notes for outcome in by_index):
        near = (c for found in lists for c in found if c.note_rank is not None)
        notes = {candidate.note_id for candidate in near}
        return Arm("note", ran=True, found=len(notes), path="signs")
    if not any(outcome.has_vectors for outcome in searched):
        reason = _("Whole notes are compared by meaning, and nothing was.")
    elif not by_index:
        reason = _("Every passage was compared: whole notes bring no other.")
    elif not knobs.note_vectors:
        reason = _("Whole notes are switched off.")
    elif not facts.is_missing:
        reason = _("The index is small and misses next to nothing: whole notes bring no other.")
    else:
        reason = _("No whole note has a vector yet.")
    return Arm("note", ran=False, reason=reason)


def _code_arm(searched: Sequence[_Searched], lists: Sequence[Sequence[Candidate]]) -> Arm:
    """What was looked for in source code by itself, or why it was not."""
    ran = [outcome for outcome in searched if outcome.code.runs]
    if ran:
        count = _count(candidate.code_rank for found in lists for candidate in found)
        reason = "" if count else _("Nothing in source code is nearly as near as the rest.")
        return Arm("code", ran=True, reason=reason, found=count, path=ran[0].path)
    why_not = searched[0].code.why_not if searched else "vectors"
    reasons = {
        "off": _("Looking for source code by itself is switched off."),
        "none": _("There is no source code here."),
        "question": _("The question has no sign that it is about source code."),
        "vectors": _("Source code is looked for by meaning, and nothing was."),
    }
    return Arm("code", ran=False, reason=reasons[why_not])


def _title_arm(lists: Sequence[Sequence[Candidate]], knobs: Knobs) -> Arm:
    if knobs.mode == Mode.SEMANTIC:
        return Arm("title", ran=False, reason=_("Search by meaning alone was asked for."))
    notes = {candidate.note_id for found in lists for candidate in found if candidate.exact}
    return Arm("title", ran=True, found=len(notes), path="lookup keys")


def _count(ranks: Iterable[int | None]) -> int:
    return sum(rank is not None for rank in ranks)


def _ms(start: float, end: float) -> float:
    return round((end - start) * 1000, 1)
