"""Winners become passages: merged, capped, deduplicated, inside the budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.expansion import Group, Piece, fit_texts, plan_passages
from retrieval.core.types import Candidate, Knobs


def piece(
    chunk_id: int, *, note_id: int = 1, ordinal: int | None = None, tokens: int = 10
) -> Piece:
    place = chunk_id if ordinal is None else ordinal
    return Piece(
        chunk_id, note_id, place, place * 100, place * 100 + 90, tokens, f"text {chunk_id} alone"
    )


def plan(winners: list[int], pieces: list[Piece], **knobs: int) -> list[list[int]]:
    by_id = {p.chunk_id: p for p in pieces}
    candidates = [Candidate(i, by_id[i].note_id, 1.0) for i in winners if i in by_id]
    groups = plan_passages(candidates, by_id, Knobs(**{"neighbours": 0, **knobs}))  # type: ignore[arg-type]
    return [sorted(p.chunk_id for p in group.pieces) for group in groups]


def test_winners_side_by_side_become_one_passage_in_the_better_ones_place() -> None:
    assert plan([5, 9, 6], [piece(5), piece(6), piece(9)]) == [[5, 6], [9]]


def test_neighbours_fill_what_is_left_of_the_budget_best_passage_first() -> None:
    pieces = [piece(n) for n in range(1, 10)]
    assert plan([3, 8], pieces, neighbours=1, token_budget=40) == [[2, 3, 4], [8]]


def test_passages_that_neighbours_bring_together_are_joined() -> None:
    assert plan([1, 3], [piece(1), piece(2), piece(3)], neighbours=1) == [[1, 2, 3]]


def test_neighbours_stay_in_their_note() -> None:
    pieces = [piece(1), piece(2, note_id=2)]
    assert plan([1], pieces, neighbours=1) == [[1]]


def test_a_neighbour_that_says_what_is_said_already_is_left_out() -> None:
    text = "the pump in the cellar is serviced every year in the month of May by the plumber"
    one = Piece(1, 1, 0, 0, 90, 10, text)
    copy = Piece(2, 2, 0, 0, 90, 10, f"{text}.")
    other = Piece(3, 2, 1, 90, 180, 10, "something else entirely is said in this one")
    assert plan([1, 3], [one, copy, other], neighbours=1) == [[1], [3]]


def test_a_winner_too_long_for_the_rest_of_the_budget_makes_room_for_a_smaller_one() -> None:
    pieces = [piece(1, tokens=50), piece(3, tokens=90), piece(5, tokens=40)]
    assert plan([1, 3, 5], pieces, token_budget=100) == [[1], [5]]


def test_the_best_passage_is_always_there() -> None:
    assert plan([1], [piece(1, tokens=500)], token_budget=100) == [[1]]


def test_what_vanished_is_left_out() -> None:
    assert plan_passages([Candidate(1, 1, 1.0)], {}, Knobs()) == []


@given(
    winners=st.lists(st.integers(0, 25), unique=True, max_size=12),
    tokens=st.lists(st.integers(1, 60), min_size=26, max_size=26),
    passages=st.integers(1, 6),
    budget=st.integers(60, 300),
    neighbours=st.integers(0, 3),
)
def test_no_plan_exceeds_its_limits_or_uses_a_chunk_twice(
    winners: list[int], tokens: list[int], passages: int, budget: int, neighbours: int
) -> None:
    pieces = {n: piece(n, note_id=n // 9, ordinal=n % 9, tokens=tokens[n]) for n in range(26)}
    knobs = Knobs(passages=passages, token_budget=budget, neighbours=neighbours)
    groups = plan_passages([Candidate(n, n // 9, 1.0) for n in winners], pieces, knobs)
    used = [p.chunk_id for group in groups for p in group.pieces]
    assert len(groups) <= passages
    assert len(used) == len(set(used))
    assert sum(group.tokens for group in groups) <= budget
    assert bool(groups) == bool(winners)
    for group in groups:
        ordinals = sorted(p.ordinal for p in group.pieces)
        assert ordinals == list(range(ordinals[0], ordinals[-1] + 1))
        assert len({p.note_id for p in group.pieces}) == 1


@given(st.lists(st.text(alphabet="ab ", max_size=60), max_size=6), st.integers(1, 40))
def test_texts_never_exceed_the_budget_together(texts: list[str], budget: int) -> None:
    fitted = fit_texts(texts, budget=budget, count_tokens=len)
    assert sum(map(len, fitted)) <= budget
    assert all(text.startswith(kept) for text, kept in zip(texts, fitted, strict=True))


def test_the_first_text_is_cut_at_a_word() -> None:
    assert fit_texts(["one two three four", "x"], budget=12, count_tokens=len) == ["one two", "x"]


def test_a_group_knows_its_place() -> None:
    group = Group(Candidate(2, 1, 1.0), [piece(2), piece(3)])
    assert (group.start, group.end, group.tokens) == (200, 390, 20)
    assert group.touches(piece(4))
    assert group.touches(piece(1))
    assert not group.touches(piece(5))
    assert not group.touches(piece(4, note_id=2))
