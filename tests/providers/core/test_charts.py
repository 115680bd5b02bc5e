"""Bars stay in their box, whatever they show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.core.charts import HEIGHT, WIDTH, bars, nice_ceiling

AMOUNTS = st.floats(min_value=0, max_value=1e12, allow_nan=False)


@pytest.mark.parametrize(
    ("value", "ceiling"),
    [(0, 1), (0.4, 0.5), (1, 1), (1.2, 2), (3, 5), (51, 100), (199_999, 200_000), (1e6, 1e6)],
)
def test_the_top_of_an_axis_is_a_round_number(value: float, ceiling: float) -> None:
    assert nice_ceiling(value) == pytest.approx(ceiling)


@given(AMOUNTS)
def test_the_top_is_never_under_the_value_and_never_far_above(value: float) -> None:
    top = nice_ceiling(value)
    assert top >= value
    assert value == 0 or top <= max(value * 2.6, 1e-6)


@given(st.lists(AMOUNTS, min_size=1, max_size=366))
def test_bars_stand_side_by_side_inside_the_box(values: list[float]) -> None:
    drawn = bars(values, top=nice_ceiling(max(values)))
    assert len(drawn) == len(values)
    end = 0.0
    for bar, value in zip(drawn, values, strict=True):
        assert float(bar.x) >= end - 0.02
        end = float(bar.x) + float(bar.width)
        assert end <= WIDTH + 0.02
        assert float(bar.y) + float(bar.height) == pytest.approx(HEIGHT, abs=0.02)
        assert (float(bar.height) > 0) == (value > 0)


def test_a_small_amount_beside_a_large_one_is_still_seen() -> None:
    small, large = bars([1, 1_000_000], top=1_000_000)
    assert float(small.height) == 1.0
    assert float(large.height) == HEIGHT


def test_a_single_bar_is_not_as_wide_as_the_chart() -> None:
    (only,) = bars([5], top=5)
    assert float(only.width) < WIDTH / 10


def test_nothing_draws_nothing() -> None:
    assert bars([], top=1) == ()
