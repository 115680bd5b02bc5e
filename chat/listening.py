"""Who listens to a run in the process that writes it."""

from __future__ import annotations

import asyncio

from chat.core.events import Event


class Subscriber:
    """Somebody of this process who listens to a run.

    `events` ends with None when nothing more will come this way: the run ended, or the
    listener fell too far behind and must read on from the tables.
    """

    def __init__(self, *, size: int) -> None:
        self.events: asyncio.Queue[Event | None] = asyncio.Queue(maxsize=size + 1)
        self._size = size
        self._is_cut = False

    def give(self, event: Event) -> None:
        """Queue `event`, or cut the queue off when it is full."""
        if self._is_cut:
            return
        if self.events.qsize() >= self._size:
            self.cut()
        else:
            self.events.put_nowait(event)

    def cut(self) -> None:
        """Nothing more comes this way."""
        if not self._is_cut:
            self._is_cut = True
            self.events.put_nowait(None)
