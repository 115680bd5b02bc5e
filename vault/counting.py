"""Counts for pages: one that takes too long is unknown, and holds nothing up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django.conf import settings
from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled

Result = TypeVar("Result")


def in_time(look: Callable[[], Result]) -> Result | None:
    """What `look` finds in the database; None when it takes longer than COUNT_SECONDS."""
    try:
        is_inside = connection.in_atomic_block
        with transaction.atomic():
            before = _limited(f"{int(settings.COUNT_SECONDS * 1000)}ms")
            found = look()
            if is_inside:  # a transaction around this one keeps its own limit
                _limited(before)
            return found
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            return None
        raise


def _limited(timeout: str) -> str:
    """Set the limit of this transaction; returns the one before."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('statement_timeout'), "
            "set_config('statement_timeout', %s, true)",
            [timeout],
        )
        row = cursor.fetchone()
    return str(row[0]) if row else timeout
