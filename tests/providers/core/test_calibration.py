"""How a factor between counted and estimated tokens moves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.core.calibration import HIGHEST, LOWEST, next_factor


def after(factor: float, ratio: float, calls: int) -> float:
    for _call in range(calls):
        factor = next_factor(factor, estimated=1000, reported=int(1000 * ratio))
    return factor


@pytest.mark.parametrize("ratio", [0.6, 0.9, 1.0, 1.3, 1.6, 1.9])
def test_it_comes_to_what_the_provider_counts(ratio: float) -> None:
    assert after(1.0, ratio, 100) == pytest.approx(ratio, abs=0.01)


def test_it_rises_fast_and_falls_slowly() -> None:
    assert after(1.0, 1.6, 3) > 1.5
    assert after(1.6, 1.0, 3) > 1.4


@pytest.mark.parametrize(("estimated", "reported"), [(299, 9000), (0, 5), (1000, 0), (1000, -4)])
def test_what_says_nothing_changes_nothing(estimated: int, reported: int) -> None:
    assert next_factor(1.2, estimated=estimated, reported=reported) == 1.2


@given(st.floats(LOWEST, HIGHEST), st.integers(0, 10**9), st.integers(0, 10**9))
def test_it_stays_within_its_bounds(factor: float, estimated: int, reported: int) -> None:
    assert LOWEST <= next_factor(factor, estimated=estimated, reported=reported) <= HIGHEST


def test_a_floor_holds_against_servers_that_count_too_little() -> None:
    assert next_factor(1.0, estimated=1000, reported=10, lowest=1.0) == 1.0
