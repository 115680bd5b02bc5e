"""Days and times as people read them: one form, and of which time zone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.utils import timezone
from django.utils.formats import date_format, time_format


@pytest.mark.parametrize(
    ("zone", "shown"),
    [("UTC", "4 Mar 2026, 16:05 UTC"), ("Europe/Berlin", "4 Mar 2026, 17:05 CET")],
)
def test_a_time_says_of_which_zone_it_is(zone: str, shown: str) -> None:
    moment = datetime(2026, 3, 4, 16, 5, tzinfo=UTC)
    with timezone.override(zone):
        assert date_format(timezone.localtime(moment), "DATETIME_FORMAT") == shown
        assert date_format(timezone.localtime(moment), "SHORT_DATETIME_FORMAT") == shown


def test_a_day_is_written_as_in_the_lists() -> None:
    day = datetime(2026, 3, 4, 16, 5, tzinfo=UTC)
    assert date_format(day, "DATE_FORMAT") == date_format(day, "SHORT_DATE_FORMAT") == "4 Mar 2026"
    assert time_format(timezone.localtime(day), "TIME_FORMAT") == "16:05 UTC"
