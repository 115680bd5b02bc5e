"""Times of files and commits are such that every page can show them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import example, given
from hypothesis import strategies as st

from vault.core.moments import moment_of


@given(st.integers(-(2**80), 2**80), st.integers(-14, 14))
@example(253_402_300_799_999_999, 14)
@example(-1, -12)
def test_any_time_can_be_shown_in_every_time_zone(microseconds: int, hours: int) -> None:
    moment = moment_of(microseconds)
    assert 1969 <= moment.astimezone(timezone(timedelta(hours=hours))).year <= 2200


def test_a_usual_time_is_kept_to_the_microsecond() -> None:
    moment = datetime(2026, 3, 4, 5, 6, 7, 891_011, tzinfo=UTC)
    assert moment_of(int(moment.timestamp()) * 10**6 + 891_011) == moment


def test_two_senseless_times_still_differ() -> None:
    far = 253_402_300_799_000_000
    assert moment_of(far) != moment_of(far + 1_000_000)
    assert moment_of(far).year == 1970
