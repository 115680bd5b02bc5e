"""Limits: what is left, when they begin anew."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.core.allowances import Allowance, Period, period_around

BERLIN = ZoneInfo("Europe/Berlin")
ZONES = st.sampled_from([UTC, BERLIN, ZoneInfo("Asia/Kathmandu"), ZoneInfo("America/Sao_Paulo")])


def allowance(
    tokens: int, cost: str, *, most_tokens: int | None, most_cost: str | None
) -> Allowance:
    most = None if most_cost is None else Decimal(most_cost)
    return Allowance(
        "Ann", tokens, Decimal(cost), most_tokens, most, datetime(2026, 4, 1, tzinfo=UTC)
    )


@pytest.mark.parametrize(
    ("tokens", "cost", "most_tokens", "most_cost", "share"),
    [
        (0, "0", 1000, None, 0.0),
        (799, "0", 1000, None, 0.799),
        (800, "0", 1000, "1", 0.8),
        (100, "0.9", 1000, "1", 0.9),
        (5000, "0.9", None, "1", 0.9),
        (1000, "0", 1000, None, 1.0),
        (3000, "0", 1000, None, 3.0),
        (0, "0", 0, None, 1.0),
        (0, "0", None, "0", 1.0),
    ],
)
def test_the_nearer_of_both_limits_counts(
    tokens: int, cost: str, most_tokens: int | None, most_cost: str | None, share: float
) -> None:
    it = allowance(tokens, cost, most_tokens=most_tokens, most_cost=most_cost)
    assert it.share == pytest.approx(share)
    assert it.is_spent == (share >= 1)
    assert it.is_nearly_spent == (0.8 <= share < 1)


def test_it_says_which_of_both_is_nearer() -> None:
    assert allowance(10, "0.9", most_tokens=1000, most_cost="1").is_about_cost
    assert not allowance(950, "0.9", most_tokens=1000, most_cost="1").is_about_cost


def test_a_day_and_a_month_follow_the_clock_where_people_are() -> None:
    late = datetime(2026, 1, 31, 23, 30, tzinfo=BERLIN)
    assert period_around(late, "day") == (
        datetime(2026, 1, 31, tzinfo=BERLIN),
        datetime(2026, 2, 1, tzinfo=BERLIN),
    )
    assert period_around(late, "month") == (
        datetime(2026, 1, 1, tzinfo=BERLIN),
        datetime(2026, 2, 1, tzinfo=BERLIN),
    )


def test_the_day_on_which_clocks_change_ends_at_midnight() -> None:
    begin, end = period_around(datetime(2026, 3, 29, 12, tzinfo=BERLIN), "day")
    assert (begin.hour, end.hour) == (0, 0)
    assert end.astimezone(UTC) - begin.astimezone(UTC) == timedelta(hours=23)


@given(
    st.datetimes(min_value=datetime(2020, 1, 1), max_value=datetime(2090, 1, 1)),  # noqa: DTZ001
    ZONES,
    st.sampled_from(["day", "month"]),
)
def test_every_moment_is_inside_its_period(naive: datetime, zone: ZoneInfo, period: Period) -> None:
    moment = naive.replace(tzinfo=zone)
    begin, end = period_around(moment, period)
    assert begin.replace(tzinfo=None) <= naive < end.replace(tzinfo=None)
    assert period_around(end, period)[0] == end
