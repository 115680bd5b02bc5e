"""Which notes a trial is made with."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.pool import choose_pool

ids = st.integers(min_value=0, max_value=30)


def test_what_is_expected_comes_first_then_the_first_of_every_question() -> None:
    weights = dict.fromkeys(range(10), 1)
    assert choose_pool([7], [[1, 2], [3, 1, 4]], [9, 5], weights=weights, most=5) == [7, 1, 3, 2, 4]


def test_a_note_that_is_too_large_leaves_room_for_smaller_ones() -> None:
    weights = {1: 1, 2: 50, 3: 2}
    assert choose_pool([], [[1, 2, 3]], [], weights=weights, most=4) == [1, 3]


def test_what_is_expected_is_there_whatever_it_weighs() -> None:
    assert choose_pool([5], [[1]], [], weights={5: 900, 1: 1}, most=10) == [5]


@given(
    st.sets(ids), st.lists(st.lists(ids, max_size=8), max_size=5), st.lists(ids, max_size=20),
    st.dictionaries(ids, st.integers(min_value=1, max_value=9)), st.integers(0, 40),
)  # fmt: skip
def test_no_note_stands_twice_and_the_bound_holds(
    expected: set[int],
    ranked: list[list[int]],
    others: list[int],
    weights: dict[int, int],
    most: int,
) -> None:
    pool = choose_pool(expected, ranked, others, weights=weights, most=most)
    assert len(pool) == len(set(pool))
    assert set(pool) <= weights.keys()
    assert expected & weights.keys() <= set(pool)
    needed = sum(weights[note] for note in expected & weights.keys())
    assert sum(weights[note] for note in pool) <= max(most, needed)
