"""Times of files and commits: as tables, time zones and pages can hold them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# A clock may be wrong by decades; near year 9999 every time zone overflows.
_MOST = (datetime(2200, 1, 1, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
_DAY = 24 * 3600 * 10**6


def moment_of(microseconds: int) -> datetime:
    """The time that is so long after the start of 1970.

    One that no clock can have meant, before 1970 or from 2200 on, becomes a time of the first
    day: two of them that differ still differ, so a change of the file is seen.
    """
    is_meant = 0 <= microseconds < _MOST
    return EPOCH + timedelta(microseconds=microseconds if is_meant else microseconds % _DAY)
