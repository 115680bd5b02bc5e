"""The measures of a ranking, against figures worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.metrics import MEASURES, Scores, mean, mean_by, part_of, percentile, score

names = st.lists(st.text("abcdefgh", min_size=1, max_size=2), max_size=30)


def test_a_perfect_ranking_has_full_marks() -> None:
    found = score(["a", "b", "c"], {"a": 1, "b": 1})
    assert [getattr(found, name) for name in MEASURES] == [1.0, 1.0, 1.0, 1.0]


def test_figures_of_a_middling_ranking() -> None:
    ranked = ["x", "a", *"0123456789", "b"]
    found = score(ranked, {"a": 2, "b": 1})
    ideal = 2 + 1 / math.log2(3)
    assert found.ndcg_10 == pytest.approx((2 / math.log2(3)) / ideal)
    assert found.recall_10 == 0.5
    assert found.recall_20 == 1.0
    assert found.mrr_10 == 0.5


def test_a_name_ranked_twice_counts_once() -> None:
    assert score(["a", "a", "b"], {"a": 1, "b": 1}) == score(["a", "b"], {"a": 1, "b": 1})


def test_nothing_relevant_is_no_division_by_zero() -> None:
    assert score(["a"], {}) == Scores()
    assert score(["a"], {"a": 0}) == Scores()


@given(names, names)
def test_scores_stay_between_nought_and_one(ranked: list[str], relevant: list[str]) -> None:
    found = score(ranked, dict.fromkeys(relevant, 1.0))
    assert all(0 <= getattr(found, name) <= 1 + 1e-9 for name in MEASURES)
    assert found.recall_10 <= found.recall_20


@given(names.filter(bool))
def test_moving_a_relevant_note_up_never_lowers_a_score(ranked: list[str]) -> None:
    ranked = list(dict.fromkeys(ranked))
    before = score(ranked, {ranked[-1]: 1.0})
    after = score([ranked[-1], *ranked[:-1]], {ranked[-1]: 1.0})
    assert all(getattr(after, name) >= getattr(before, name) for name in MEASURES)


def test_means_are_over_questions_and_groups() -> None:
    good, bad = score(["a"], {"a": 1}), score(["b"], {"a": 1})
    assert mean([good, bad]).ndcg_10 == 0.5
    assert mean([good, bad]).questions == 2
    assert mean([]) == Scores(questions=0)
    grouped = mean_by([("x", good), ("y", bad), ("x", bad)])
    assert {name: (each.mrr_10, each.questions) for name, each in grouped.items()} == {
        "x": (0.5, 2),
        "y": (0.0, 1),
    }


def test_dev_and_test_are_told_apart_by_the_id_alone() -> None:
    parts = [part_of(str(number)) for number in range(200)]
    assert {"dev", "test"} == set(parts)
    assert 70 < parts.count("dev") < 130


def test_percentiles() -> None:
    assert percentile([], 0.5) == 0.0
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile([1, 2, 3, 4], 0.95) == 4
