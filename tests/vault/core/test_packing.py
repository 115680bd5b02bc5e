"""Pieces are packed full, and an edit moves few of the cuts."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.core.packing import Room, packed_groups

ROOM = Room(first=400, later=340, least=60)


def pieces_of(seed: int, count: int, *, largest: int = 120) -> list[tuple[int, str]]:
    """Made-up pieces: their tokens and what they say."""
    dice = random.Random(seed)
    return [(dice.randint(10, largest), f"piece {dice.random()}") for _ in range(count)]


def packed(pieces: list[tuple[int, str]], room: Room = ROOM) -> list[list[tuple[int, str]]]:
    groups = packed_groups([size for size, _ in pieces], [text for _, text in pieces], room)
    return [pieces[first:end] for first, end in groups]


def tokens(group: list[tuple[int, str]]) -> int:
    return sum(size for size, _text in group)


pieces_lists = st.lists(
    st.tuples(st.integers(0, 500), st.sampled_from(["a", "b", "c"]) | st.text(max_size=3)),
    max_size=60,
)


@given(pieces_lists)
def test_groups_hold_every_piece_once_and_in_order(pieces: list[tuple[int, str]]) -> None:
    assert [piece for group in packed(pieces) for piece in group] == pieces
    assert all(packed(pieces))


@given(pieces_lists)
def test_no_group_of_several_pieces_holds_more_than_its_room(
    pieces: list[tuple[int, str]],
) -> None:
    for number, group in enumerate(packed(pieces)):
        assert len(group) == 1 or tokens(group) <= (ROOM.later if number else ROOM.first)


def test_what_fits_stays_together() -> None:
    assert packed_groups([], [], ROOM) == []
    assert packed_groups([200, 200], ["a", "b"], ROOM) == [(0, 2)]
    assert packed_groups([200, 201], ["a", "b"], ROOM) == [(0, 1), (1, 2)]
    assert packed_groups([900], ["a"], ROOM) == [(0, 1)]


@pytest.mark.parametrize("seed", range(20))
def test_groups_are_well_filled(seed: int) -> None:
    pieces = pieces_of(seed, 300)
    groups = packed(pieces)
    assert tokens(pieces) / len(groups) > 0.7 * ROOM.later
    assert min(map(tokens, groups)) >= ROOM.least


@given(st.integers(2, 200), st.integers(1, 4))
def test_repeated_text_is_packed_as_full_as_any(count: int, period: int) -> None:
    pieces = [(40, f"line {number % period}") for number in range(count)]
    groups = packed(pieces)
    assert len(groups) <= 1 + max(0, 40 * count - 200) / (0.55 * ROOM.later)


@given(st.integers(0, 10_000), st.integers(30, 300), st.data())
def test_an_edit_changes_a_few_groups_however_long_the_run(
    seed: int, count: int, data: st.DataObject
) -> None:
    pieces = pieces_of(seed, count)
    place = data.draw(st.integers(0, count - 1))
    edits = {
        "rewritten": [*pieces[:place], (95, "new words"), *pieces[place + 1 :]],
        "grown": [*pieces[:place], (119, pieces[place][1] + "!"), *pieces[place + 1 :]],
        "added": [*pieces[:place], (95, "new words"), *pieces[place:]],
        "removed": [*pieces[:place], *pieces[place + 1 :]],
    }
    before = packed(pieces)
    for name, edited in edits.items():
        changed = [group for group in packed(edited) if group not in before]
        assert len(changed) <= 12, name


def test_most_edits_change_one_or_two_groups() -> None:
    changed: list[int] = []
    for seed in range(40):
        pieces = pieces_of(seed, 120)
        before = packed(pieces)
        for place in range(0, 120, 7):
            edited = [*pieces[:place], (60, "new words"), *pieces[place + 1 :]]
            changed.append(len([group for group in packed(edited) if group not in before]))
    assert sum(changed) / len(changed) < 2.5
    assert sorted(changed)[len(changed) // 2] <= 2


def test_a_cut_says_nothing_of_what_stands_far_before_it() -> None:
    pieces = pieces_of(7, 400)
    ends = {group[-1] for group in packed(pieces)}
    for added in range(1, 60):
        moved = packed([*pieces_of(1000 + added, added), *pieces])
        far = {group[-1] for group in moved} & set(pieces[200:])
        assert far == ends & set(pieces[200:])


def test_neighbours_of_equal_hash_cannot_part_a_run_into_crumbs() -> None:
    groups = packed([(5, "- [ ] ")] * 1000)
    assert all(tokens(one) + tokens(two) > ROOM.later for one, two in pairwise(groups))
