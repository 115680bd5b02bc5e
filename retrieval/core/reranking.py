"""What a reranker says, blended into the fused ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from retrieval.core.types import Candidate

# Rerankers were measured worse than the fused order on two sets of notes (nDCG@10 0.92 to
# 0.89, and to 0.39 with whole notes), so their word is half of the score, never all of it.
SHARE = 0.5


def split_for_rerank(
    candidates: Sequence[Candidate], most: int
) -> tuple[list[Candidate], list[Candidate], list[Candidate]]:
    """`candidates` as (named by the query, the next `most`, the rest), each in its order.

    A note whose name was typed is what was asked for: no model decides about it.
    """
    named = [candidate for candidate in candidates if candidate.exact]
    others = [candidate for candidate in candidates if not candidate.exact]
    return named, others[:most], others[most:]


def blend(
    candidates: Sequence[Candidate], scores: Mapping[int, float], *, share: float = SHARE
) -> list[Candidate]:
    """`candidates` ordered by fused and rerank score, each scaled to 0..1 in this list.

    `scores`: the reranker's score by place in `candidates`; a place without one counts as
    its worst. New scores stay between the least and the greatest fused score, so that what
    was ranked below still is. `rerank_rank` is the place that the reranker alone gives.
    """
    if not candidates or not scores:
        return list(candidates)
    fused = _scaled([candidate.score for candidate in candidates])
    worst = min(scores.values())
    said = _scaled([scores.get(place, worst) for place in range(len(candidates))])
    by_judge = sorted(scores, key=lambda place: (-scores[place], place))
    ranks = {place: rank for rank, place in enumerate(by_judge, start=1)}
    low = min(candidate.score for candidate in candidates)
    high = max(candidate.score for candidate in candidates)
    blended = [
        replace(
            candidate,
            score=low + (high - low) * ((1 - share) * fused[place] + share * said[place]),
            rerank_rank=ranks.get(place),
        )
        for place, candidate in enumerate(candidates)
    ]
    order = sorted(
        range(len(blended)),
        key=lambda place: (-(1 - share) * fused[place] - share * said[place], place),
    )
    return [blended[place] for place in order]


def _scaled(values: Sequence[float]) -> list[float]:
    """Min-max to 0..1; equal values are all best."""
    low, high = min(values), max(values)
    return [1.0 if high == low else (value - low) / (high - low) for value in values]
