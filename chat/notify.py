"""News between processes over PostgreSQL: which run has something new, which shall stop.

Only ids travel. Nobody depends on a message: who waits for one looks again after a while,
so a lost connection costs a second of delay and nothing else.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
import structlog
from django.db import connection, connections

CHANNEL = "secondbrain_chat"
LONGEST_PAUSE = 5.0
log = structlog.get_logger("chat.notify")


def tell(run_ids: Sequence[UUID], *, stop: bool = False) -> None:
    """Send news of runs; they leave when the current transaction commits."""
    payloads = [json.dumps({"run": str(run_id), "stop": stop}) for run_id in run_ids]
    with connection.cursor() as cursor:
        statement = "SELECT pg_notify(%s, news) FROM unnest(%s::text[]) AS news"
        cursor.execute(statement, [CHANNEL, payloads])


class Bridge:
    """Listens on a connection of its own and wakes whoever waits for a run.

    `on_stop` is called with the id of a run that somebody wants stopped.
    """

    def __init__(self, *, on_stop: Callable[[UUID], object]) -> None:
        self._on_stop = on_stop
        self._bells: dict[UUID, set[asyncio.Event]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None
        self.listening = asyncio.Event()

    def start(self) -> None:
        """Begin to listen, unless that was done before."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._listen_for_ever())

    async def stop(self) -> None:
        """Close the connection."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @contextmanager
    def bell(self, run_id: UUID) -> Iterator[asyncio.Event]:
        """An event that is set when there is news of the run."""
        bell = asyncio.Event()
        self._bells[run_id].add(bell)
        try:
            yield bell
        finally:
            self._bells[run_id].discard(bell)
            if not self._bells[run_id]:
                del self._bells[run_id]

    async def _listen_for_ever(self) -> None:
        pause = 0.1
        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError) as error:
                log.warning("listening_lost", error=type(error).__name__, retry_in=pause)
            if self.listening.is_set():
                pause = 0.1
            self.listening.clear()
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _listen(self) -> None:
        async with await psycopg.AsyncConnection.connect(
            **_connection_arguments(), autocommit=True
        ) as listener:
            await listener.execute(f"LISTEN {CHANNEL}")
            self.listening.set()
            self._ring_all()  # something may have been said while nobody listened
            async for notice in listener.notifies():
                self._pass_on(notice.payload)

    def _pass_on(self, payload: str) -> None:
        news = json.loads(payload)
        run_id = UUID(news["run"])
        if news["stop"]:
            self._on_stop(run_id)
        for bell in self._bells.get(run_id, ()):
            bell.set()

    def _ring_all(self) -> None:
        for bells in self._bells.values():
            for bell in bells:
                bell.set()


def _connection_arguments() -> dict[str, Any]:
    """Django's own arguments, less what only a cursor of Django needs."""
    arguments = connections["default"].get_connection_params()
    for name in ("cursor_factory", "context", "prepare_threshold"):
        arguments.pop(name, None)
    return dict(arguments)
