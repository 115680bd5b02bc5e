"""Two evaluations, or two rankings, side by side."""

from __future__ import annotations

from retrieval.core.comparing import compare, moves
from retrieval.core.metrics import score

FIRST, SECOND, LOST = score(["a"], {"a": 1}), score(["b", "a"], {"a": 1}), score([], {"a": 1})


def test_questions_are_sorted_into_better_worse_and_same() -> None:
    before = {"up": SECOND, "down": FIRST, "lost": FIRST, "same": FIRST, "old": FIRST}
    after = {"up": FIRST, "down": SECOND, "lost": LOST, "same": FIRST, "new": LOST}
    found = compare(before, after)
    assert [change.key for change in found.better] == ["up"]
    assert [change.key for change in found.worse] == ["lost", "down"]
    assert (found.same, found.only_before, found.only_after) == (1, 1, 1)
    assert found.before.questions == found.after.questions == 4
    assert found.deltas["mrr_10"] == (1 + 0.5 + 0 + 1) / 4 - (0.5 + 1 + 1 + 1) / 4
    assert found.is_worse
    assert not found.is_better


def test_the_same_run_is_neither_better_nor_worse() -> None:
    found = compare({"a": FIRST}, {"a": FIRST})
    assert not found.is_worse
    assert not found.is_better
    assert found.better == found.worse == ()


def test_nothing_shared_compares_to_nothing() -> None:
    found = compare({"a": FIRST}, {"b": FIRST})
    assert found.before.questions == 0
    assert not found.is_worse


def test_moves_say_how_far_each_rose_or_fell() -> None:
    found = moves([1, 2, 3], [3, 2, 4])
    assert {key: move.steps for key, move in found.items()} == {1: None, 2: 0, 3: 2, 4: None}
    assert found[1].after is None
    assert found[4].before is None
