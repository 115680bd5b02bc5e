"""An answer being written: a task of this process that outlives the socket that asked.

The task paces what it passes on: about ten frames a second to those who listen, one row a
second to the database, whatever the model's speed.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import structlog
from django.db import DatabaseError, InterfaceError

from chat.core.blocks import BlockStream
from chat.core.citations import Quotable
from chat.core.clean_words import CleanWords
from chat.core.events import Event, EventType
from chat.core.rendering import render_answer
from chat.database import in_database, own_database_thread
from chat.endings import (
    BROKEN,
    DATABASE_GONE,
    RIGHTS_LOST,
    STOPPED,
    SUSPENDED,
    Ending,
    call_json,
    last_data,
    rights_lost_after,
    tokens_of,
    unsaved,
)
from chat.gathering import Gathered, seconds_to_beat
from chat.history import Turn
from chat.ledger import (
    Close,
    News,
    Standing,
    append_news,
    no_sources,
    save_end,
)
from chat.listening import Subscriber
from chat.models import Message
from chat.parts import Finished, Said, Sourced, TurnPart, Withdrawn, Words
from chat.settling import SOURCES_ADDED, Settled, settle
from providers.core.errors import ProviderError
from providers.core.types import Usage
from providers.models import ChatModel, UsageRecord
from providers.usage import hear_usage

log = structlog.get_logger("chat.writing")


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between frames and between flushes; how long a lease and an outage may last.

    A frame that comes late because the process is busy makes the next ones rarer and
    larger, to one in `slowest_frame` seconds. An open block is sent again at most
    `block_bytes` characters a second, and rendered for at most the share `rendering` of
    the time. What runs keep and ask within `gather` seconds is kept and asked together. An
    end waits `judging` seconds at most for what meaning says of its citations.
    """

    frame: float = 0.1
    slowest_frame: float = 0.5
    flush: float = 1.0
    gather: float = 0.1
    lease: float = 15.0
    outage: float = 30.0
    block_bytes: int = 40_000
    rendering: float = 0.05
    judging: float = 3.0
    queue: int = 300


# Seconds without a new look at the open block, however long it takes to render.
MOST_REST = 2.0
Keeper = Gathered[News, Standing]


def keeper(pace: Pace) -> Keeper:
    """Keeps what the runs of this process say, all of them together."""
    return Gathered(append_news, seconds=pace.gather)


class LiveRun:
    """A run of this process: writes, paces, keeps and passes on."""

    def __init__(
        self, turn: Turn, parts: AsyncGenerator[TurnPart], *, pace: Pace, keep: Keeper
    ) -> None:
        self.turn = turn
        self._keep = keep
        self.seq = 0
        self.unsaved: deque[Event] = deque()
        self.named_by: ChatModel | None = None
        self._parts = parts
        self._pace = pace
        self._subscribers: set[Subscriber] = set()
        self._quotables: tuple[Quotable, ...] = ()
        self._sourced: Sourced | None = None
        self._calls: list[UsageRecord] = []
        self._begin_words()
        self._text: list[str] = []
        self._pending: list[str] = []
        self._usage = Usage()
        self._next_block = 0.0
        self._saved_at = time.monotonic()
        self._is_ours = True
        self._is_closed = False
        self._over = asyncio.Event()
        self._ending: Ending | None = None
        self._producer: asyncio.Task[None] | None = None

    # Listening

    def subscribe(self) -> Subscriber:
        """A listener for every event after `self.seq`."""
        subscriber = Subscriber(size=self._pace.queue)
        if self._is_closed:
            subscriber.cut()
        self._subscribers.add(subscriber)
        return subscriber

    def unsubscribe(self, subscriber: Subscriber) -> None:
        self._subscribers.discard(subscriber)

    def stop(self, ending: Ending = STOPPED) -> None:
        """End the writing now; what was written is kept. The first ending counts."""
        if self._ending is None:
            self._ending = ending
            if self._producer is not None:
                self._producer.cancel()

    # Writing

    async def write(self) -> None:
        """Write the answer to its end, whatever that is."""
        async with own_database_thread():
            with hear_usage() as self._calls:
                producer = self._producer = asyncio.create_task(self._produce())
            if self._ending is not None:
                producer.cancel()
            frames = asyncio.create_task(self._pass_on())
            flushes = asyncio.create_task(self._keep_up())
            for task in (frames, flushes):
                task.add_done_callback(self._stop_if_broken)
            try:
                ending = await self._wait_for_end(producer)
            finally:
                self._over.set()
                frames.cancel()
                await asyncio.gather(frames, flushes, return_exceptions=True)
            await self._finish(ending)
            self._is_closed = True
            for subscriber in self._subscribers:
                subscriber.cut()

    async def _produce(self) -> None:
        async with aclosing(self._parts) as parts:
            async for part in parts:
                self._take(part)

    def _take(self, part: TurnPart) -> None:
        if isinstance(part, Words):
            self._text.append(part.text)
            self._pending.append(part.text)
            return
        if isinstance(part, Withdrawn):
            self._text.clear()
            self._pending.clear()
            self._begin_words()
            self._next_block = 0.0
            self._publish(EventType.RESET, {})
            return
        self._publish_words()
        if isinstance(part, Sourced):
            self._publish_delta(self._clean.finish())
            self._quotables = part.quotables
            self._sourced = part
            self._begin_words()
            self._publish(EventType.SOURCES, part.data)
        elif isinstance(part, Said):
            self._publish(part.type, part.data)
        elif isinstance(part, Finished):
            self._usage = part.usage
            self.named_by = part.named_by

    async def _wait_for_end(self, producer: asyncio.Task[None]) -> Ending:
        """How it ended. This is the outer edge of a run: nothing gets past it."""
        try:
            await producer
        except asyncio.CancelledError:
            if self._ending is None:
                raise  # not our stop: the process ends, and the lease will tell
            return self._ending
        except ProviderError as error:
            return Ending(
                EventType.ERROR, Message.Status.FAILED, error.code, str(error), error.mend
            )
        except Exception:  # the edge of a run: the reader is told, the log has the rest
            log.exception("run_broke", run=str(self.turn.ids.run))
            return BROKEN
        return Ending(EventType.DONE, Message.Status.DONE, usage=self._usage)

    async def _pass_on(self) -> None:
        """Frames, until the writing is over. On a busy process they are rarer and larger."""
        clock, pause = asyncio.get_running_loop().time, self._pace.frame
        while True:
            due = clock() + pause
            await asyncio.sleep(pause)
            late = clock() - due
            pause = min(max(self._pace.frame, 2 * late), self._pace.slowest_frame)
            self._publish_words()

    async def _keep_up(self) -> None:
        """Flushes, until the writing is over: those of all runs at the same moments."""
        clock = asyncio.get_running_loop().time
        while not await self._is_over(seconds_to_beat(clock(), self._pace.flush)):
            await self._flush()

    def _stop_if_broken(self, task: asyncio.Task[None]) -> None:
        """An answer that is passed on or kept no more is not written on in silence."""
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("run_broke", run=str(self.turn.ids.run), exc_info=error)
            self.stop(BROKEN)

    async def _is_over(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                return await self._over.wait()
        except TimeoutError:
            return False

    # Publishing

    def _publish(self, kind: EventType, data: dict[str, Any]) -> Event:
        self.seq += 1
        event = Event(self.seq, kind, data)
        self.unsaved.append(event)
        for subscriber in self._subscribers:
            subscriber.give(event)
        return event

    def _begin_words(self) -> None:
        self._blocks = BlockStream(self._quotables)
        self._clean = CleanWords(quotable.number for quotable in self._quotables)

    def _end_words(self) -> None:
        """All words and blocks so far; nothing is held back any more."""
        self._publish_words()
        self._publish_delta(self._clean.finish())
        self._publish_blocks(self._blocks.finish)

    def _publish_words(self) -> None:
        """One frame: the words since the last one, and the blocks they changed."""
        if self._pending:
            text = "".join(self._pending)
            self._pending.clear()
            self._blocks.push(text)
            self._publish_delta(self._clean.push(text))
        began = time.monotonic()
        if began >= self._next_block:
            self._publish_blocks(self._blocks.changed)
            took = time.monotonic() - began
            size = self._blocks.open_size
            rest = max(size / self._pace.block_bytes, took / self._pace.rendering)
            self._next_block = began + min(rest, MOST_REST)

    def _publish_delta(self, text: str) -> None:
        if text:
            self._publish(EventType.DELTA, {"text": text})

    def _publish_blocks(self, blocks: Callable[[], list[Any]]) -> None:
        for block in blocks():
            data = {"index": block.index, "html": block.html, "closed": block.closed}
            self._publish(EventType.BLOCK, data)

    # Keeping

    async def _flush(self) -> None:
        events = list(self.unsaved)
        try:
            standing = await self._keep.ask(News(self.turn.ids.run, events, self._pace.lease))
        except (DatabaseError, InterfaceError) as error:
            self._bear_outage(error)
            return
        self._saved_at = time.monotonic()
        for _ in events:
            self.unsaved.popleft()
        self._heed(standing)

    def _bear_outage(self, error: Exception) -> None:
        """The text waits in memory for the database to come back, for a while."""
        log.warning("flush_failed", run=str(self.turn.ids.run), error=type(error).__name__)
        if time.monotonic() - self._saved_at > self._pace.outage:
            self.stop(DATABASE_GONE)

    def _heed(self, standing: Standing) -> None:
        if not standing.is_ours:
            self._is_ours = False
            self.stop()
        elif standing.stop_wanted:
            self.stop()
        elif not standing.user_is_active:
            self.stop(SUSPENDED)
        elif not standing.sources_are_readable:
            self.stop(RIGHTS_LOST)

    async def _finish(self, ending: Ending) -> None:
        """Keep the end, then tell it: a reader never sees an end that is not saved."""
        if not self._is_ours:
            return  # deleted, or ended by another process: its rows say the rest
        if self.seq == 0:
            self._publish(EventType.SOURCES, no_sources())
        self._end_words()
        settled = await self._settle(ending)
        rendered = settled.rendered
        citations = [citation.as_json() for citation in rendered.citations]
        close = Close(
            status=ending.status,
            text=settled.text,
            sources_added=settled.reason == SOURCES_ADDED,
            calls=[call_json(call) for call in self._calls],
            error_code=ending.code,
            error=ending.text,
            mend=ending.mend,
            cut_short=ending.usage.stop_reason == "length",
            usage=self._tokens(ending.usage),
            citations=citations,
        )
        last = Event(self.seq + 1, ending.type, last_data(ending, close, rendered.html))
        if ending is RIGHTS_LOST:
            last = rights_lost_after(self.seq)
        if await self._save_end(last, close):
            self.unsaved.clear()
            self._tell_last(last)

    async def _settle(self, ending: Ending) -> Settled:
        """The answer as it is kept; what it has besides what was said is said now."""
        text = "".join(self._text)
        if ending.type is not EventType.DONE or self._sourced is None:
            return Settled(text, render_answer(text, self._quotables))
        settled = await settle(text, self._sourced, patience=self._pace.judging)
        if settled.reason:
            self._publish(EventType.RESET, {"reason": settled.reason})
            self._begin_words()
        more = settled.text if settled.reason else settled.text.removeprefix(text)
        if more:
            self._pending.append(more)
            self._end_words()
        return settled

    def _tokens(self, told: Usage) -> dict[str, int]:
        """What the answer took however it ended, with its beginning where it goes on from one."""
        begun = self.turn.begun.usage if self.turn.begun else {}
        return {name: n + begun.get(name, 0) for name, n in tokens_of(self._calls, told).items()}

    async def _save_end(self, last: Event, close: Close) -> bool:
        """Whether the end was kept, with patience for a database that restarts."""
        until = time.monotonic() + self._pace.outage
        while True:
            try:
                return await in_database(save_end, self.turn.ids.run, [*self.unsaved, last], close)
            except (DatabaseError, InterfaceError) as error:
                log.warning("save_failed", run=str(last.seq), error=type(error).__name__)
                if time.monotonic() > until:
                    self._tell_last(Event(last.seq, *unsaved(last)))
                    return False
            await asyncio.sleep(self._pace.flush)

    def _tell_last(self, last: Event) -> None:
        self.seq = last.seq
        for subscriber in self._subscribers:
            subscriber.give(last)
