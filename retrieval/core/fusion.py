"""One ranking out of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from retrieval.core.types import Candidate

# The question as asked weighs most: an alternate may wander, the asker meant what they
# wrote.
ORIGINAL_WEIGHT = 1.0
ALTERNATE_WEIGHT = 0.5


def fuse_queries(
    lists: Sequence[Sequence[Candidate]], *, k: int, weights: Sequence[float] | None = None
) -> list[Candidate]:
    """One list out of the ranked lists of several queries, by reciprocal rank.

    A single list keeps its scores and its order. Otherwise score = sum of weight / (k +
    rank) (Cormack, Clarke and Buettcher, SIGIR 2009). Ranks within an arm are the best of
    any query. Exact hits come first; ties go to the older chunk, so that order is stable.
    """
    if len(lists) == 1:
        return order(lists[0])
    chosen = weights or [ORIGINAL_WEIGHT] + [ALTERNATE_WEIGHT] * (len(lists) - 1)
    fused: dict[int, Candidate] = {}
    for candidates, weight in zip(lists, chosen, strict=True):
        for rank, candidate in enumerate(candidates, start=1):
            gain = weight / (k + rank)
            known = fused.get(candidate.chunk_id)
            fused[candidate.chunk_id] = (
                replace(candidate, score=gain) if known is None else _join(known, candidate, gain)
            )
    return order(list(fused.values()))


def order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Exact hits first, then by score; ties by their place in the code path, what it did not
    find first, and by chunk, so that two runs agree."""
    return sorted(candidates, key=lambda c: (not c.exact, -c.score, c.code_rank or 0, c.chunk_id))


def best_per_note(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The first candidate of each note, in the given order."""
    first: dict[int, Candidate] = {}
    for candidate in candidates:
        first.setdefault(candidate.note_id, candidate)
    return list(first.values())


def cap_per_note(candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """At most `most` candidates of each note, in the given order."""
    taken: dict[int, int] = {}
    kept = []
    for candidate in candidates:
        taken[candidate.note_id] = taken.get(candidate.note_id, 0) + 1
        if taken[candidate.note_id] <= most:
            kept.append(candidate)
    return kept


def best_by_meaning(lists: Sequence[Sequence[Candidate]]) -> float | None:
    """The best cosine of any query; None where no vector was compared or the query names a
    note."""
    candidates = [candidate for ranked in lists for candidate in ranked]
    if any(candidate.exact for candidate in candidates):
        return None
    return max((c.cosine for c in candidates if c.cosine is not None), default=None)


def without_far(
    lists: Sequence[Sequence[Candidate]], *, bar: float
) -> tuple[tuple[Candidate, ...], ...]:
    """The lists without candidates that meaning alone found, with a cosine under `bar`."""
    return tuple(
        tuple(
            c
            for c in ranked
            if c.exact or c.lexical_rank is not None or c.cosine is None or c.cosine >= bar
        )
        for ranked in lists
    )


def arm_labels(candidate: Candidate) -> tuple[str, ...]:
    """How a candidate was found, for readers: ("title", "keyword 1", "meaning 3")."""
    labels = ["title"] if candidate.exact else []
    if candidate.lexical_rank is not None:
        labels.append(f"keyword {candidate.lexical_rank}")
    if candidate.vector_rank is not None:
        labels.append(f"meaning {candidate.vector_rank}")
    if candidate.note_rank is not None:
        labels.append(f"note {candidate.note_rank}")
    if candidate.code_rank is not None:
        labels.append(f"code {candidate.code_rank}")
    if candidate.rerank_rank is not None:
        labels.append(f"rerank {candidate.rerank_rank}")
    if candidate.in_text:
        labels.append("text")
    if candidate.dated:
        labels.append("days")
    return tuple(labels)


def _join(known: Candidate, other: Candidate, gain: float) -> Candidate:
    return replace(
        known,
        score=known.score + gain,
        lexical_rank=_least(known.lexical_rank, other.lexical_rank),
        vector_rank=_least(known.vector_rank, other.vector_rank),
        code_rank=_least(known.code_rank, other.code_rank),
        note_rank=_least(known.note_rank, other.note_rank),
        exact=known.exact or other.exact,
        dated=known.dated or other.dated,
        bm25=_most(known.bm25, other.bm25),
        cosine=_most(known.cosine, other.cosine),
    )


def _least(one: int | None, other: int | None) -> int | None:
    present = [rank for rank in (one, other) if rank is not None]
    return min(present, default=None)


def _most(one: float | None, other: float | None) -> float | None:
    present = [value for value in (one, other) if value is not None]
    return max(present, default=None)
