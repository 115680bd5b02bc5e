"""A reranker's word is half of the score and never moves what it did not see."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.fusion import order
from retrieval.core.reranking import blend, split_for_rerank
from retrieval.core.types import Candidate


def ranked(*scores: float, exact: bool = False) -> list[Candidate]:
    return [
        Candidate(chunk_id=number, note_id=number, score=score, exact=exact)
        for number, score in enumerate(scores, start=1)
    ]


def ids(candidates: list[Candidate]) -> list[int]:
    return [candidate.chunk_id for candidate in candidates]


def test_a_candidate_that_the_reranker_prefers_moves_up() -> None:
    assert ids(blend(ranked(1.0, 0.9, 0.5), {0: -4.0, 1: 8.0, 2: -3.0})) == [2, 1, 3]


def test_the_reranker_alone_does_not_decide() -> None:
    found = blend(ranked(1.0, 0.2, 0.1), {0: 0.8, 1: 1.0, 2: 0.0})
    assert ids(found) == [1, 2, 3]
    assert [candidate.rerank_rank for candidate in found] == [2, 1, 3]


def test_a_candidate_without_a_score_counts_as_the_worst() -> None:
    found = blend(ranked(0.9, 0.9, 0.8), {1: 0.9, 2: 0.1})
    assert ids(found) == [2, 1, 3]
    assert [candidate.rerank_rank for candidate in found] == [1, None, 2]


def test_equal_verdicts_and_no_verdict_keep_the_order() -> None:
    fused = ranked(0.9, 0.5, 0.5, 0.1)
    assert ids(blend(fused, dict.fromkeys(range(4), 0.3))) == [1, 2, 3, 4]
    assert blend(fused, {}) == fused
    assert blend([], {0: 1.0}) == []


def test_what_was_named_and_what_is_far_down_is_not_reranked() -> None:
    fused = [*ranked(0.0, exact=True), *ranked(0.9, 0.8, 0.7)[1:], Candidate(9, 9, score=0.1)]
    named, head, rest = split_for_rerank(fused, 2)
    assert (ids(named), ids(head), ids(rest)) == ([1], [2, 3], [9])


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=20),
    st.dictionaries(st.integers(0, 19), st.floats(-20, 20)),
)
def test_scores_stay_in_their_range_and_in_order(
    scores: list[float], verdicts: dict[int, float]
) -> None:
    fused = order(ranked(*scores))
    seen = {place: score for place, score in verdicts.items() if place < len(fused)}
    found = blend(fused, seen)
    assert sorted(ids(found)) == sorted(ids(fused))
    low, high = min(scores), max(scores)
    assert all(low <= candidate.score <= high + 1e-9 for candidate in found)
    values = [candidate.score for candidate in found]
    assert all(one >= other - 1e-9 for one, other in pairwise(values))
