"""Rankings of several queries become one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.fusion import (
    arm_labels,
    best_by_meaning,
    best_per_note,
    cap_per_note,
    fuse_queries,
    order,
    without_far,
)
from retrieval.core.types import Candidate


def candidate(chunk_id: int, *, score: float = 0.0, note_id: int | None = None) -> Candidate:
    return Candidate(chunk_id, chunk_id if note_id is None else note_id, score)


LISTS = st.lists(
    st.lists(st.integers(1, 30), unique=True, max_size=20).map(
        lambda ids: [candidate(i, score=1 / (n + 1), note_id=i % 7) for n, i in enumerate(ids)]
    ),
    min_size=1,
    max_size=3,
)


@given(LISTS)
def test_fusion_keeps_every_candidate_once(lists: list[list[Candidate]]) -> None:
    fused = [c.chunk_id for c in fuse_queries(lists, k=60)]
    assert sorted(fused) == sorted({c.chunk_id for ranked in lists for c in ranked})


@given(LISTS)
def test_what_leads_every_list_leads_the_fusion(lists: list[list[Candidate]]) -> None:
    led = [[candidate(99, score=9.0), *ranked] for ranked in lists]
    assert fuse_queries(led, k=60)[0].chunk_id == 99


def test_the_question_as_asked_weighs_most() -> None:
    asked, alternate = [candidate(1), candidate(2)], [candidate(3), candidate(2)]
    first = fuse_queries([asked, alternate], k=60)
    assert [c.chunk_id for c in first] == [2, 1, 3]


def test_a_single_list_keeps_its_order_and_scores() -> None:
    ranked = [candidate(5, score=0.9), candidate(2, score=0.4)]
    assert fuse_queries([ranked], k=60) == ranked


def test_an_exact_hit_of_any_query_comes_first() -> None:
    exact = Candidate(8, 8, 0.0, exact=True)
    fused = fuse_queries([[candidate(1, score=1.0)], [candidate(1), exact]], k=60)
    assert [c.chunk_id for c in fused] == [8, 1]


def test_fusion_keeps_the_best_rank_of_each_arm() -> None:
    one = Candidate(1, 1, 1.0, lexical_rank=4, cosine=0.7)
    two = Candidate(1, 1, 1.0, lexical_rank=2, vector_rank=9, cosine=0.8)
    (fused,) = fuse_queries([[one], [two]], k=60)
    assert (fused.lexical_rank, fused.vector_rank, fused.cosine) == (2, 9, 0.8)
    assert arm_labels(fused) == ("keyword 2", "meaning 9")


def test_what_one_query_knows_of_a_passage_is_kept_whichever_found_it_first() -> None:
    plain, known = candidate(1), Candidate(1, 1, 0.0, exact=True, dated=True, bm25=3.0, note_rank=2)
    for lists in ([[plain], [known]], [[known], [plain]]):
        (fused,) = fuse_queries(lists, k=60)
        assert (fused.exact, fused.dated, fused.bm25, fused.note_rank) == (True, True, 3.0, 2)


def test_ties_go_to_the_older_chunk() -> None:
    assert [c.chunk_id for c in order([candidate(3), candidate(1), candidate(2)])] == [1, 2, 3]


def test_a_note_has_one_row_and_a_share_of_passages() -> None:
    ranked = [candidate(1, note_id=7), candidate(2, note_id=7), candidate(3, note_id=8)]
    assert [c.chunk_id for c in best_per_note(ranked)] == [1, 3]
    assert [c.chunk_id for c in cap_per_note(ranked, 1)] == [1, 3]
    assert [c.chunk_id for c in cap_per_note(ranked, 2)] == [1, 2, 3]


def test_labels_name_every_way_a_note_was_found() -> None:
    assert arm_labels(Candidate(1, 1, 1.0, lexical_rank=1, exact=True)) == ("title", "keyword 1")
    assert arm_labels(Candidate(1, 1, 0.0, in_text=True)) == ("text",)


def test_the_best_by_meaning_is_that_of_any_query_unless_a_name_was_found() -> None:
    near, nearer = Candidate(1, 1, 1.0, cosine=0.7), Candidate(2, 2, 1.0, cosine=0.75)
    assert best_by_meaning([[near], [nearer]]) == 0.75
    assert best_by_meaning([[near, Candidate(4, 4, 0.0, exact=True)]]) is None
    assert best_by_meaning([[Candidate(3, 3, 1.0, lexical_rank=1)]]) is None
    assert best_by_meaning([[]]) is None


def test_what_only_a_far_meaning_brings_in_is_left_out() -> None:
    near, far = Candidate(1, 1, 1.0, cosine=0.7), Candidate(2, 2, 1.0, cosine=0.2)
    worded = Candidate(3, 3, 1.0, lexical_rank=1, cosine=0.2)
    named = Candidate(4, 4, 0.0, exact=True, cosine=0.1)
    assert without_far([[near, far, worded], [named]], bar=0.3) == ((near, worded), (named,))


def test_what_stands_at_the_bar_is_not_far() -> None:
    at, under = Candidate(1, 1, 1.0, cosine=0.25), Candidate(2, 2, 0.9, cosine=0.249)
    assert without_far([[at, under]], bar=0.25) == ((at,),)
