"""A provider that keeps failing is left alone, longer each time, and tried again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.core.circuit import (
    FAILURES_TO_OPEN,
    FIRST_SECONDS,
    LONGEST_ASKED_SECONDS,
    LONGEST_SECONDS,
    Circuit,
    after_failure,
)

NOW = 1_000_000.0


def failed(circuit: Circuit, times: int = 1, *, now: float = NOW) -> Circuit:
    for _ in range(times):
        circuit = after_failure(circuit, now=now, reason="it was down")
    return circuit


def test_it_opens_after_the_last_of_several_failures_in_a_row() -> None:
    nearly = failed(Circuit(), FAILURES_TO_OPEN - 1)
    assert not nearly.is_open(NOW)
    assert not nearly.is_half_open(NOW)
    opened = failed(nearly)
    assert opened.is_open(NOW)
    assert opened.open_until == NOW + FIRST_SECONDS
    assert opened.reason == "it was down"


def test_when_the_time_is_over_it_is_half_open() -> None:
    opened = failed(Circuit(), FAILURES_TO_OPEN)
    later = NOW + FIRST_SECONDS
    assert not opened.is_open(later)
    assert opened.is_half_open(later)


def test_each_failed_probe_doubles_the_time_up_to_a_limit() -> None:
    circuit, now, waits = failed(Circuit(), FAILURES_TO_OPEN), NOW, []
    for _ in range(8):
        waits.append(circuit.open_until - now)
        now = circuit.open_until
        circuit = failed(circuit, now=now)
    assert waits[:4] == [FIRST_SECONDS * 2**n for n in range(4)]
    assert waits[-1] == LONGEST_SECONDS


def test_calls_that_had_begun_before_it_opened_do_not_lengthen_the_time() -> None:
    opened = failed(Circuit(), FAILURES_TO_OPEN)
    assert failed(opened, 10, now=NOW + 1) == opened


def test_retry_after_opens_at_once_for_that_long() -> None:
    asked = after_failure(Circuit(), now=NOW, reason="too many calls", retry_after=120)
    assert asked.open_until == NOW + 120
    assert asked.is_half_open(NOW + 120)


def test_a_shorter_retry_after_does_not_shorten_what_holds() -> None:
    long = after_failure(Circuit(), now=NOW, reason="x", retry_after=600)
    assert after_failure(long, now=NOW, reason="x", retry_after=20).open_until == NOW + 600


@pytest.mark.parametrize("asked", [1e6, 1e30, float("inf")])
def test_nobody_is_left_alone_for_longer_than_an_hour(asked: float) -> None:
    circuit = after_failure(Circuit(), now=NOW, reason="x", retry_after=asked)
    assert circuit.open_until == NOW + LONGEST_ASKED_SECONDS


@given(
    st.lists(
        st.tuples(
            st.floats(min_value=0, max_value=5000),
            st.none() | st.floats(min_value=0, max_value=1e9),
        ),
        max_size=60,
    )
)
def test_whatever_happens_it_can_be_tried_again_within_an_hour(
    story: list[tuple[float, float | None]],
) -> None:
    circuit, now = Circuit(), NOW
    for pause, retry_after in story:
        now += pause
        circuit = after_failure(circuit, now=now, reason="x" * 1000, retry_after=retry_after)
        assert circuit.open_until <= now + LONGEST_ASKED_SECONDS
        assert not (circuit.is_open(now) and circuit.is_half_open(now))
        assert len(circuit.reason) <= 300
        assert not circuit.is_clean
