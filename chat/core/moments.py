"""Dates and times that come from outside: as tables, time zones and pages can hold them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

# No conversation is older, and near the ends of the calendar every time zone overflows.
EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
LATEST = datetime(9000, 1, 1, tzinfo=UTC)
# Clocks of two machines may differ, and by a forgotten time zone at most by a day.
GRACE = timedelta(days=1)


def moment_in(text: str, *, now: datetime | None = None) -> datetime:
    """The moment written in `text`, in UTC; with `now`, one that has been by then.

    Raises ValueError with what it must be.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise ValueError("must be an ISO date and time") from error
    if moment.tzinfo is None:
        raise ValueError("must have a time zone")
    try:
        moment = moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"must be a moment from {EARLIEST.year} on") from error
    if not EARLIEST <= moment < LATEST:
        raise ValueError(f"must be a moment from {EARLIEST.year} on")
    if now is not None and moment > now + GRACE:
        raise ValueError(f"must not be in the future, and it is {now:%Y-%m-%d} here")
    return moment
