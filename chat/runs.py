"""Runs of this process and of others: start one, follow one, stop one.

A run is a task of its own, held here for as long as it writes; sockets come and go. Rows
are the truth: whoever is on another process, came late or fell behind reads them.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import socket
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from uuid import UUID, uuid4

import structlog
from django.db import DatabaseError, InterfaceError, transaction

from chat.core.asking import Ask, Refused, not_found
from chat.core.events import Event, RunIds
from chat.database import in_database, own_database_thread
from chat.endings import RESTARTING
from chat.gathering import Gathered
from chat.history import Turn, open_turn, own_conversation, own_run
from chat.ledger import end_abandoned, ids_of, read_events, read_news, want_stop
from chat.models import Conversation
from chat.notify import Bridge
from chat.providing import Providing, site_providing
from chat.rights import (
    Caller,
    Followed,
    Permission,
    check_sources,
    current_user,
    permissions_of,
)
from chat.small_calls import MOST_SECONDS
from chat.steps import decide
from chat.titles import name_conversation, read_title
from chat.turn import run_turn
from chat.unanswered import note_unanswered
from chat.writing import LiveRun, Pace, keeper
from providers.models import ChatModel

log = structlog.get_logger("chat.runs")
PROCESS = f"{socket.gethostname()}:{os.getpid()}:{uuid4().hex[:8]}"[-100:]
# Without news, look again: covers a lost NOTIFY and a process that died.
LOOK_AGAIN = 1.0
# How long a listener waits for the title that a model makes after the first answer.
TITLE_WAIT = MOST_SECONDS + 2


class SignedOut(Exception):
    """The caller may do nothing here any more."""


@dataclass(frozen=True, slots=True)
class Attached:
    """What there is to follow: `run` is None when nothing is being written."""

    run: RunIds | None
    status: str
    is_temporary: bool = False


class Runs:
    """The runs of one process on one event loop."""

    def __init__(self, providing: Providing, *, pace: Pace | None = None) -> None:
        self._providing = providing
        self._pace = pace or Pace()
        self._keeper = keeper(self._pace)
        self._rights = Gathered(permissions_of, seconds=self._pace.gather)
        self._live: dict[UUID, LiveRun] = {}
        self._tasks: dict[UUID, asyncio.Task[None]] = {}
        self._looking_back: set[asyncio.Task[None]] = set()
        self._is_draining = False
        self._is_begun = False
        self.bridge = Bridge(on_stop=self._stop_here)

    async def start(self, ask: Ask, *, caller: Caller) -> Turn:
        """Keep the question and begin to write its answer. Raises Refused, SignedOut."""
        if self._is_draining:
            raise Refused(
                "restarting", "The server is restarting. Ask again in a moment.", status=503
            )
        await self._begin()
        turn = await in_database(self._open, ask, caller)
        parts = run_turn(turn, self._providing, bell=self.bridge.bell)
        live = LiveRun(turn, parts, pace=self._pace, keep=self._keeper)
        self._live[turn.ids.run] = live
        # A context of its own: the request's database thread ends with the request.
        task = asyncio.create_task(live.write(), context=contextvars.Context())
        self._tasks[turn.ids.run] = task
        task.add_done_callback(lambda _: self._after(live))
        return turn

    async def attach(self, conversation: UUID, run: UUID | None, *, caller: Caller) -> Attached:
        """What to follow in a conversation: `run`, or the one that is being written."""
        await self._begin()
        return await in_database(_attach, conversation, run, caller)

    async def stop(self, run: UUID, *, caller: Caller) -> None:
        """Stop a run, whichever process writes it. Raises Refused, SignedOut."""
        await in_database(stop_run, run, caller)
        self._stop_here(run)

    async def follow(self, run: UUID, *, after: int = 0) -> AsyncGenerator[Event]:
        """Events of a run with seq > `after`, without gap or duplicate, to its end."""
        await self._begin()
        live = self._live.get(run)
        if live is not None:
            async with aclosing(self._follow_live(live, after)) as events:
                async for event in events:
                    after = event.seq
                    yield event
                    if event.is_last:
                        return
        async with aclosing(self._follow_rows(run, after)) as events:
            async for event in events:
                yield event

    async def permission_of(self, caller: Caller, message_ids: Iterable[UUID]) -> Permission:
        """Whether they may go on who follow answers: asked for all of this process together."""
        return await self._rights.ask(Followed(caller, frozenset(message_ids)))

    async def title_after(self, ids: RunIds) -> str | None:
        """The title of a conversation after its first answer; None: none comes any more.

        A model may be making it: it is waited for, a while.
        """
        until = asyncio.get_running_loop().time() + TITLE_WAIT
        with self.bridge.bell(ids.run) as bell:
            while True:
                bell.clear()
                title, is_awaited = await in_database(read_title, ids)
                if not is_awaited:
                    return title or None
                try:
                    async with asyncio.timeout_at(until):
                        await bell.wait()
                except TimeoutError:
                    return None

    async def drain(self, seconds: float) -> None:
        """Start nothing more; let runs end, and interrupt what still writes after a while."""
        self._is_draining = True
        if self._tasks:
            await asyncio.wait(list(self._tasks.values()), timeout=seconds)
        for live in list(self._live.values()):
            live.stop(RESTARTING)
        for looking in self._looking_back:
            looking.cancel()
        tasks = (*self._tasks.values(), *self._looking_back)
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.bridge.stop()

    async def _begin(self) -> None:
        """First use in this process: listen, and end what a killed process left."""
        self.bridge.start()
        if not self._is_begun:
            self._is_begun = True
            await in_database(end_abandoned)

    def _open(self, ask: Ask, caller: Caller) -> Turn:
        user = current_user(caller)
        if user is None:
            raise SignedOut
        return open_turn(user, ask, owner_process=PROCESS, lease_seconds=self._pace.lease)

    def _stop_here(self, run: UUID) -> None:
        live = self._live.get(run)
        if live is not None:
            live.stop()

    def _after(self, live: LiveRun) -> None:
        """The run is over; what can be done without the reader waiting is done now."""
        self._live.pop(live.turn.ids.run, None)
        self._tasks.pop(live.turn.ids.run, None)
        if not self._is_draining:
            later = self._look_back(live.turn, live.named_by)
            task = asyncio.create_task(later, context=contextvars.Context())
            self._looking_back.add(task)
            task.add_done_callback(self._looking_back.discard)

    async def _look_back(self, turn: Turn, model: ChatModel | None) -> None:
        """Collect a question without an answer; name the conversation of a first one."""
        async with own_database_thread():
            try:
                await in_database(note_unanswered, turn.ids.message)
            except (DatabaseError, InterfaceError) as error:
                log.warning("unanswered_not_kept", error=type(error).__name__)
            if model is not None:
                await name_conversation(
                    turn.ids, model, self._providing, question=turn.question, user_id=turn.user_id
                )

    async def _follow_live(self, live: LiveRun, after: int) -> AsyncGenerator[Event]:
        # Between here and the end of the next two statements nothing else runs, so what
        # is not in `tail` is in the tables already, and what comes later is queued.
        subscriber = live.subscribe()
        tail = list(live.unsaved)
        try:
            first_unsaved = tail[0].seq if tail else live.seq + 1
            kept = await in_database(
                read_events, live.turn.ids.run, after=after, before=first_unsaved
            )
            for event in (*kept, *(e for e in tail if e.seq > after)):
                yield event
            while (said := await subscriber.events.get()) is not None:
                yield said
        finally:
            live.unsubscribe(subscriber)

    async def _follow_rows(self, run: UUID, after: int) -> AsyncGenerator[Event]:
        with self.bridge.bell(run) as bell:
            while True:
                bell.clear()
                events, is_active = await in_database(read_news, run, after=after)
                for event in events:
                    after = event.seq
                    yield event
                if not is_active:
                    return
                try:
                    async with asyncio.timeout(LOOK_AGAIN):
                        await bell.wait()
                except TimeoutError:
                    continue


def stop_run(run_id: UUID, caller: Caller) -> None:
    """Ask for a stop, from any process and any door. Raises Refused, SignedOut."""
    user = current_user(caller)
    if user is None:
        raise SignedOut
    run = own_run(user, run_id)
    end_abandoned([run.pk])
    want_stop(run.pk)


def decide_step(run_id: UUID, number: int, decision: object, *, caller: Caller) -> None:
    """The reader's word on a further search, from any process and any door. Raises Refused,
    SignedOut."""
    user = current_user(caller)
    if user is None:
        raise SignedOut
    decide(own_run(user, run_id).message, number, decision)


def delete_conversation(conversation: Conversation) -> None:
    """Delete a conversation and all in it; what is being written in it stops."""
    for run_id in conversation.runs.active().values_list("pk", flat=True):
        want_stop(run_id)
    with transaction.atomic():
        # What still writes waits here, and then finds its run gone.
        list(conversation.runs.active().select_for_update(of=("self",)))
        conversation.delete()


def _attach(conversation_id: UUID, run_id: UUID | None, caller: Caller) -> Attached:
    user = current_user(caller)
    if user is None:
        raise SignedOut
    conversation = own_conversation(user, conversation_id)
    end_abandoned(conversation.runs.active().values_list("pk", flat=True))
    if run_id is not None:
        run = own_run(user, run_id)
        if run.conversation_id != conversation.pk:
            raise not_found()
    else:
        active = conversation.runs.active().select_related("message").first()
        if active is None:
            return Attached(None, "idle", conversation.temporary)
        run = active
    check_sources(user, run.message_id)
    return Attached(ids_of(run), run.message.status, conversation.temporary)


_installed: dict[asyncio.AbstractEventLoop, Runs] = {}


def install_runs(runs: Runs) -> Runs:
    """Make `runs` those of the running event loop."""
    _installed.clear()  # a loop that has ended keeps nothing
    _installed[asyncio.get_running_loop()] = runs
    return runs


def runs_here() -> Runs:
    """The runs of this process: one object for as long as its event loop lives."""
    runs = _installed.get(asyncio.get_running_loop())
    return runs or install_runs(Runs(site_providing()))
