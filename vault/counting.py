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
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('statement_timeout')")
            before = cursor.fetchone()[0]
            _limit(f"{int(settings.COUNT_SECONDS * 1000)}ms")
            found = look()
            # A transaction around this one keeps its own limit.
            _limit(before)
            return found
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            return None
        raise


def _limit(timeout: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [timeout])
