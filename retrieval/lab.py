"""One question under the microscope: every candidate with what each arm said of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from django.utils.translation import gettext as _

from providers.core.errors import NotConfigured
from providers.models import ChatModel
from providers.registry import default_chat_model
from retrieval.core.comparing import Move, moves
from retrieval.core.query import parse_query
from retrieval.core.snippets import Snippet, make_snippet
from retrieval.core.types import Arm, Candidate, Fusion, Knobs, Mode, Passage
from retrieval.database import in_database
from retrieval.evaluation.runs import knobs_from
from retrieval.facts import ScopeFacts, scope_facts
from retrieval.models import RetrievalRun
from retrieval.options import rerank_model
from retrieval.pipeline import retrieve
from retrieval.search import search_notes, words_to_mark
from vault.access import notes_in
from vault.core.types import Scope
from vault.models import Chunk, Note

DEFAULT_TOP = 10
MOST_TOP = 50
# A whole passage, nearly: one sees what was found and not only where.
TEXT_LENGTH = 420

# What has a column of its own; whatever else a search measures is shown by its name.
_SHOWN_FIELDS = frozenset(
    {
        *("chunk_id", "note_id", "score", "exact", "in_text"),
        *("lexical_rank", "bm25", "vector_rank", "cosine", "code_rank", "note_rank", "rerank_rank"),
    }
)


@dataclass(frozen=True, slots=True)
class LabRow:
    """A candidate in its place, with its text. `others`: what else the search measured."""

    place: int
    candidate: Candidate
    note: Note
    heading_path: tuple[str, ...]
    span: tuple[int, int]
    tokens: int
    snippet: Snippet
    others: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Side:
    """One search of the lab. `hidden`: candidates that the reader may not read any more, or
    that are gone. `passages`: what an answer would read; a kept search has none."""

    run: RetrievalRun | None
    rows: tuple[LabRow, ...]
    arms: tuple[Arm, ...]
    notices: tuple[str, ...]
    timings: dict[str, float]
    hidden: int = 0
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Effect:
    """What turning one knob does to the notes found: how many stay in place, move, come
    anew, go."""

    label: str
    knobs: Knobs
    same: int
    moved: int
    new: int
    gone: int
    first: str


async def examine(
    question: str, *, scope: Scope, knobs: Knobs, top: int, user_id: int | None
) -> Side:
    """Search as an answer would, and look at the `top` candidates. Keeps a RetrievalRun."""
    model = await in_database(_rewording_model) if knobs.alternates else None
    found = await retrieve(
        question, history=(), scope=scope, knobs=knobs, user_id=user_id, model=model
    )
    if found.run_id is None:
        return Side(None, (), found.arms, found.notices, {})
    run = await RetrievalRun.objects.aget(pk=found.run_id)
    side = await in_database(side_of, run, scope=scope, top=top)
    return replace(side, passages=found.passages)


def side_of(run: RetrievalRun, *, scope: Scope, top: int) -> Side:
    """A kept search as the reader of `scope` may see it now."""
    candidates = [_candidate(stored) for stored in run.candidates[:top]]
    rows = tuple(_rows(candidates, run.candidates, scope=scope, question=_question(run)))
    return Side(
        run=run,
        rows=rows,
        arms=tuple(Arm(**arm) for arm in run.arms),
        notices=tuple(run.notices),
        timings=run.timings,
        hidden=len(candidates) - len(rows),
    )


def own_run(user_id: int, run_id: int) -> RetrievalRun | None:
    """A kept search of this user; what others asked is theirs."""
    return RetrievalRun.objects.filter(pk=run_id, user_id=user_id).first()


def moves_between(before: Side, after: Side) -> dict[int, Move]:
    """Where each chunk stands on both sides."""
    return moves(
        [row.candidate.chunk_id for row in before.rows],
        [row.candidate.chunk_id for row in after.rows],
    )


async def path_taken(scope: Scope) -> str:
    """In words how vectors of `scope` are compared, and why so."""
    facts = await in_database(scope_facts, scope)
    return _path_words(facts)


async def effects_of(question: str, *, scope: Scope, knobs: Knobs, top: int) -> tuple[Effect, ...]:
    """Each knob turned alone, and what that does to the first `top` notes."""
    base = await _notes(question, scope=scope, knobs=knobs, top=top)
    has_reranker = await in_database(rerank_model) is not None
    facts = await in_database(scope_facts, scope)
    found = []
    for label, turned in (
        *_variations(knobs, asks_index=not facts.is_small),
        *_switched(
            knobs,
            has_reranker=has_reranker,
            has_code=bool(facts.code),
            asks_index=not facts.is_small,
        ),
    ):
        other = await _notes(question, scope=scope, knobs=turned, top=top)
        found.append(_effect(label, turned, base, other))
    return tuple(found)


def _variations(knobs: Knobs, *, asks_index: bool) -> Iterator[tuple[str, Knobs]]:
    if knobs.mode != Mode.KEYWORD:
        yield _("keywords alone"), replace(knobs, mode=Mode.KEYWORD)
    if knobs.mode != Mode.SEMANTIC:
        yield _("meaning alone"), replace(knobs, mode=Mode.SEMANTIC)
    if knobs.mode != Mode.HYBRID:
        yield _("keywords and meaning"), replace(knobs, mode=Mode.HYBRID)
    if knobs.fusion == Fusion.CONVEX:
        yield _("fused by rank"), replace(knobs, fusion=Fusion.RRF)
    else:
        yield _("fused by score"), replace(knobs, fusion=Fusion.CONVEX)
    for weight in (25, 75):
        if knobs.mode == Mode.HYBRID and weight != knobs.keyword_weight:
            label = _("keywords count %(weight)d %%") % {"weight": weight}
            yield label, replace(knobs, keyword_weight=weight)
    for depth in (max(10, knobs.depth // 2), min(500, knobs.depth * 2)):
        yield _("depth %(depth)d") % {"depth": depth}, replace(knobs, depth=depth)
    if asks_index and knobs.mode != Mode.KEYWORD:
        wider = min(1000, knobs.ef_search * 2)
        yield _("ef_search %(ef)d") % {"ef": wider}, replace(knobs, ef_search=wider)


def _switched(
    knobs: Knobs, *, has_reranker: bool, has_code: bool, asks_index: bool
) -> Iterator[tuple[str, Knobs]]:
    """What is on or off, the other way round, where it does something."""
    if has_code and knobs.mode != Mode.KEYWORD:
        label = _("code not by itself") if knobs.code_path else _("code by itself")
        yield label, replace(knobs, code_path=not knobs.code_path)
    if asks_index and knobs.mode != Mode.KEYWORD:
        label = _("without whole notes") if knobs.note_vectors else _("with whole notes")
        yield label, replace(knobs, note_vectors=not knobs.note_vectors)
    if has_reranker:
        label = _("without reranking") if knobs.rerank else _("reranked")
        yield label, replace(knobs, rerank=not knobs.rerank)


async def _notes(question: str, *, scope: Scope, knobs: Knobs, top: int) -> list[tuple[int, str]]:
    found = await search_notes(question, scope=scope, mode=knobs.mode, limit=top, knobs=knobs)
    return [(hit.note_id, hit.title) for hit in found.hits]


def _effect(
    label: str, knobs: Knobs, base: Sequence[tuple[int, str]], other: Sequence[tuple[int, str]]
) -> Effect:
    both = moves([note_id for note_id, _title in base], [note_id for note_id, _title in other])
    steps = [move.steps for move in both.values() if move.steps is not None]
    return Effect(
        label=label,
        knobs=knobs,
        same=steps.count(0),
        moved=len(steps) - steps.count(0),
        new=sum(move.before is None for move in both.values()),
        gone=sum(move.after is None for move in both.values()),
        first=other[0][1] if other else "",
    )


def _rows(
    candidates: Sequence[Candidate],
    stored: Sequence[dict[str, Any]],
    *,
    scope: Scope,
    question: str,
) -> Iterator[LabRow]:
    notes = notes_in(scope).filter(pk__in=[each.note_id for each in candidates])
    by_id = {note.pk: note for note in notes.select_related("vault").defer("body", "headings")}
    chunks = Chunk.objects.filter(
        vault_id__in=scope.vault_ids, pk__in=[each.chunk_id for each in candidates]
    ).in_bulk()
    words = words_to_mark(parse_query(question), ())
    for place, candidate in enumerate(candidates, 1):
        note, chunk = by_id.get(candidate.note_id), chunks.get(candidate.chunk_id)
        if note is None:
            continue
        text = chunk.content if chunk else ""
        yield LabRow(
            place=place,
            candidate=candidate,
            note=note,
            heading_path=tuple(chunk.heading_path) if chunk else (),
            span=(chunk.start, chunk.end) if chunk else (0, 0),
            tokens=chunk.tokens if chunk else 0,
            snippet=make_snippet(text, words, length=TEXT_LENGTH),
            others=tuple(_others(stored[place - 1])),
        )


def _rewording_model() -> ChatModel | None:
    """The model that words a broad question anew; None where none can be used."""
    try:
        return default_chat_model()
    except NotConfigured:
        return None


def _candidate(stored: dict[str, Any]) -> Candidate:
    names = {each.name for each in fields(Candidate)}
    return Candidate(**{name: value for name, value in stored.items() if name in names})


def _others(stored: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in stored.items():
        if name in _SHOWN_FIELDS or value in (None, False, "", 0):
            continue
        shown = f"{value:.3f}" if isinstance(value, float) else str(value)
        yield name.replace("_", " "), shown


def _question(run: RetrievalRun) -> str:
    return str(run.queries[0] if run.queries else run.question)


def _path_words(facts: ScopeFacts) -> str:
    if not facts.models:
        return _("No vault here has vectors: keywords alone can find something.")
    if not facts.has_halfvec:
        return _("The database cannot compare vectors (no pgvector): it is done in memory.")
    if facts.is_small:
        return _(
            "Every vector is compared: of %(chunks)d passages that is quicker than the index, "
            "and it misses nothing."
        ) % {"chunks": facts.chunks}
    return _(
        "The vector index is asked: of %(chunks)d passages that is quicker than comparing every "
        "vector."
    ) % {"chunks": facts.chunks}


def stored_knobs(run: RetrievalRun, base: Knobs) -> Knobs:
    """The knobs that a kept search ran under; `base` where it does not say."""
    return knobs_from({**asdict(base), **run.knobs})
