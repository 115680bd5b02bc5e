"""Who may work on a vault now: one process at a time for each kind of work."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from django.db import connection


class Work(IntEnum):
    """First half of a PostgreSQL advisory lock; the second is an id."""

    SYNC = 7101
    EMBED = 7102
    INDEX = 7103
    LEXEMES = 7104
    ENRICH = 7105
    TRIAL = 7106
    NAMING = 7107


class Busy(Exception):
    """Another process is at the same work."""


@contextmanager
def only_one(work: Work, number: int, *, wait: float = 0.0) -> Iterator[None]:
    """Hold the lock of this work and id. Raises Busy after `wait` seconds.

    The lock belongs to the database session: a killed process loses it at once.
    """
    until = time.monotonic() + wait
    while not _try(work, number):
        if time.monotonic() >= until:
            raise Busy(f"{work.name.lower()} {number} is being done by another process.")
        time.sleep(0.1)
    try:
        yield
    finally:
        _release(work, number)


def wait_in_line(work: Work, number: int = 0) -> None:
    """Go on when nobody else is at this work, and keep others waiting until the transaction
    that this is called in ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [int(work), number])


def _try(work: Work, number: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [int(work), number])
        row = cursor.fetchone()
        return bool(row and row[0])


def _release(work: Work, number: int) -> None:
    if connection.connection is None or connection.connection.closed:
        return
    if connection.in_atomic_block and connection.needs_rollback:
        return  # the session's end releases it
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [int(work), number])
