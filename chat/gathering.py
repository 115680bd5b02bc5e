"""Many small asks of the database made one: what comes within a moment is asked together.

A hundred answers that are written at once have each its row to keep and its rights to ask
every second. A hundred transactions and threads for that leave the event loop no time to
pass words on; one does.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from chat.database import in_database, own_database_thread

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


class Gathered(Generic[Asked, Answer]):
    """Hands what is asked within `seconds` to `work`, in one call of a database thread.

    `work` answers in the order of what it is given; an answer that is an exception is
    raised to its asker alone, one that `work` raises to all of them.
    """

    def __init__(
        self, work: Callable[[Sequence[Asked]], Sequence[Answer | Exception]], *, seconds: float
    ) -> None:
        self._work = work
        self._seconds = seconds
        self._waiting: list[tuple[Asked, asyncio.Future[Answer]]] = []
        self._task: asyncio.Task[None] | None = None

    async def ask(self, what: Asked) -> Answer:
        """What `work` answers to `what`."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting.append((what, answer))
        if self._task is None:
            # A context of its own: no asker's database thread, which may end before.
            self._task = asyncio.create_task(self._answer_all(), context=contextvars.Context())
        return await answer

    async def _answer_all(self) -> None:
        async with own_database_thread():
            while self._waiting:
                await asyncio.sleep(self._seconds)
                batch, self._waiting = self._waiting, []
                await self._answer(batch)
            self._task = None  # at once: who asks while the thread ends needs another task

    async def _answer(self, batch: list[tuple[Asked, asyncio.Future[Answer]]]) -> None:
        # Whatever the work raises is its askers' to hear, and no end of this task.
        work = in_database(self._work, [what for what, _ in batch])
        (done,) = await asyncio.gather(work, return_exceptions=True)
        answers: Sequence[Answer | BaseException]
        answers = [done] * len(batch) if isinstance(done, BaseException) else done
        for (_, future), answer in zip(batch, answers, strict=True):
            if future.done():
                continue  # whoever asked has gone
            if isinstance(answer, BaseException):
                future.set_exception(answer)
            else:
                future.set_result(answer)


def seconds_to_beat(now: float, every: float) -> float:
    """How long to wait for the next of the moments at which all askers ask together."""
    return every - now % every
