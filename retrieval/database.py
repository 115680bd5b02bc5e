"""Database work from asynchronous code, in a way that can be cancelled; and statements whose
plan is kept."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Generic, ParamSpec, Self, TypeVar
from weakref import WeakSet

import psycopg
from asgiref.sync import sync_to_async
from django.db import connection
from django.db.backends.utils import CursorDebugWrapper, CursorWrapper
from psycopg.pq import TransactionStatus

P = ParamSpec("P")
T = TypeVar("T")

# The server takes a cancel request in about a millisecond.
_CANCEL_SECONDS = 2.0
_ASK_AGAIN_SECONDS = 0.1


async def in_database(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `function` in Django's database thread; cancelling the caller cancels its SQL.

    sync_to_async alone would wait until the statement is done and then go on as if nobody
    had cancelled.
    """
    errand = _Errand[T]()
    task = asyncio.ensure_future(sync_to_async(errand.run)(lambda: function(*args, **kwargs)))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(_look_away)
        while not task.done():
            # A request that comes between two statements cancels neither: ask again.
            await asyncio.to_thread(errand.cancel)
            await asyncio.wait([task], timeout=_ASK_AGAIN_SECONDS)
        raise


def _look_away(task: asyncio.Task[T]) -> None:
    """Take the error of work that nobody waits for, so that asyncio does not report it."""
    if not task.cancelled():
        task.exception()


class _Errand(Generic[T]):
    """One call in the database thread, and the connection it uses while it runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: Any = None
        self._is_cancelled = False

    def run(self, function: Callable[[], T]) -> T:
        connection.ensure_connection()
        with self._lock:
            if self._is_cancelled:
                raise asyncio.CancelledError
            self._connection = connection.connection
        try:
            return function()
        finally:
            with self._lock:
                self._connection = None

    def cancel(self) -> None:
        """Stop the statement that runs now, if any; one that is done is left alone.

        The lock keeps a late request from hitting whoever has the connection next.
        """
        with self._lock:
            self._is_cancelled = True
            if self._connection is not None:
                self._connection.cancel_safe(timeout=_CANCEL_SECONDS)


# Connections that plan a kept statement once and not by its values.
_planning_once: WeakSet[psycopg.Connection[Any]] = WeakSet()


# `%(name)s`, `%s`, or a percent sign.
_PLACE = re.compile(r"%(?:\((\w+)\)s|s|%)")
# Statements whose places were numbered: it takes a tenth of a millisecond, and they come again.
_KEPT_NUMBERED = 128


@lru_cache(maxsize=_KEPT_NUMBERED)
def _numbered(statement: str) -> tuple[str, tuple[str, ...]]:
    """`statement` with `$1` and so on for its places, and the names of these in order: numbers
    for those without one."""
    names: list[str] = []

    def number(place: re.Match[str]) -> str:
        if place[0] == "%%":
            return "%"
        name = place[1] or str(len(names))
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return _PLACE.sub(number, statement), tuple(names)


class _Keeping(psycopg.RawCursor[tuple[Any, ...]]):
    """Sends values beside the statement, has the server keep the statement, and takes rows in
    binary form: digits of a number are dear to write and to read."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        if params is not None:
            query, names = _numbered(query)
            params = [params[name] for name in names] if isinstance(params, dict) else params
        return super().execute(query, params, **{**options, "prepare": True, "binary": True})


class _Logged(CursorDebugWrapper):
    """As Django's own, which asks psycopg for the text: it has none of what the server keeps."""

    def execute(self, sql: Any, params: Any = None) -> Any:
        with self.debug_sql(sql, params):
            return CursorWrapper.execute(self, sql, params)


@contextmanager
def keeping_cursor() -> Iterator[CursorWrapper]:
    """A cursor whose statements and plans the server keeps for the life of the connection.

    For statements that come again word for word, and whose best plan hangs on no value. psycopg
    drops the oldest of more than a hundred; with DATABASE_KEEPS_STATEMENTS=false none is kept.
    """
    # As connection.cursor() does: a kept connection may have lost its server.
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    session = connection.connection
    if session not in _planning_once:
        with connection.wrap_database_errors:
            session.execute("SET plan_cache_mode = force_generic_plan")
        # Inside a transaction the setting goes when that is rolled back.
        if session.info.transaction_status == TransactionStatus.IDLE:
            _planning_once.add(session)
    cursor = _Keeping(session)
    with (_Logged if connection.queries_logged else CursorWrapper)(cursor, connection) as wrapped:
        yield wrapped
