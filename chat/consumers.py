"""The chat's websocket: frames in are commands, frames out are a run's events.

Nothing is written here: a run goes on when its socket closes, and any other socket of its
owner may attach to it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import DatabaseError, InterfaceError

from chat.core.asking import (
    ASK_KEYS,
    BadAsk,
    Refused,
    check_keys,
    parse_ask,
    parse_seq,
    parse_uuid,
)
from chat.core.events import EventType, RunIds, to_wire
from chat.database import in_database, own_database_thread
from chat.endings import rights_lost_after
from chat.gathering import seconds_to_beat
from chat.organising import come_back, leave
from chat.rights import Caller, CloseCode, caller_of_session, permission_of
from chat.runs import Runs, SignedOut, decide_step, runs_here
from chat.tasks import request_early_sweep

LARGEST_FRAME = 100_000
# Bytes sent since the client last said anything. Daphne queues without end for a client
# that does not read; one that is closed here attaches again and misses nothing.
MOST_UNHEARD = 1_000_000
MOST_FOLLOWED = 8
# What browsers say when a page goes away: it was closed, loaded anew or left for another.
GOING_AWAY = 1001
CHECK_EVERY = 1.0
# Seconds that a stream goes on while the database cannot say whether it may.
MOST_UNCHECKED = 10.0
log = structlog.get_logger("chat.consumers")

Command = Callable[["ChatConsumer", dict[str, Any]], Awaitable[None]]


@dataclass
class Following:
    """A run that this tab follows, and the number of the last event it was told."""

    ids: RunIds
    seq: int
    task: asyncio.Task[None] | None = None

    def cancel(self) -> None:
        """Follow it no more, unless it is the follower itself who asks."""
        if self.task is not None and self.task is not asyncio.current_task():
            self.task.cancel()


class ChatConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """One browser tab."""

    get_runs: Callable[[], Runs] = staticmethod(runs_here)
    check_every = CHECK_EVERY
    most_unchecked = MOST_UNCHECKED

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        for name, value in kwargs.items():
            setattr(self, name, value)
        self._caller: Caller | None = None
        self._followed: dict[UUID, Following] = {}
        self._naming: set[asyncio.Task[None]] = set()
        self._watch: asyncio.Task[None] | None = None
        self._unheard = 0
        self._temporary: set[UUID] = set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave_all()

    async def connect(self) -> None:
        self._caller = caller_of_session(self.scope.get("session"), self.scope.get("user"))
        if self._caller is None:
            await self.close(int(CloseCode.SIGNED_OUT))
        else:
            await self.accept()

    async def disconnect(self, code: int) -> None:
        self._leave_all()
        if code == GOING_AWAY and self._temporary:
            async with own_database_thread():
                await in_database(self._leave_temporary)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Check the frame and the caller, then carry out the command."""
        self._unheard = 0
        frame: dict[str, Any] = {}
        try:
            frame = _parse_frame(text_data)
            check_keys(frame, known=("type", "id", *KEYS[frame["type"]]))
            async with own_database_thread():
                await self._check_caller()
                await COMMANDS[frame["type"]](self, frame)
        except Refused as refusal:
            await self._refuse(frame, refusal)
        except SignedOut:
            await self.close(int(CloseCode.SIGNED_OUT))
        except (DatabaseError, InterfaceError):
            log.warning("command_failed", command=frame.get("type"))
            await self._end(CloseCode.TRY_AGAIN)

    # Commands

    async def ask(self, frame: dict[str, Any]) -> None:
        """Begin a run and follow it."""
        turn = await self._runs.start(parse_ask(frame), caller=self._me)
        await self._say(
            {
                "type": "accepted",
                "id": turn.ask.client_id,
                "conversation": str(turn.ids.conversation),
                "run": str(turn.ids.run),
                "user_message": str(turn.user_message),
                "message": str(turn.ids.message),
                "title": turn.title,
            }
        )
        if turn.ask.temporary:
            self._temporary.add(turn.ids.conversation)
        self._follow(turn.ids, after=0)

    async def attach(self, frame: dict[str, Any]) -> None:
        """Follow a run of a conversation, from the event after `after`."""
        conversation = _required(frame, "conversation")
        run = parse_uuid(frame.get("run"), name="run")
        after = parse_seq(frame.get("after"))
        found = await self._runs.attach(conversation, run, caller=self._me)
        if found.is_temporary:
            self._temporary.add(conversation)
            await in_database(come_back, self._me.user_id, [conversation])
        run_id = str(found.run.run) if found.run else None
        await self._say({"type": "attached", "run": run_id, "status": found.status})
        if found.run is not None:
            self._follow(found.run, after=after)

    async def stop(self, frame: dict[str, Any]) -> None:
        """Stop a run; its `stopped` event follows."""
        await self._runs.stop(_required(frame, "run"), caller=self._me)

    async def decide(self, frame: dict[str, Any]) -> None:
        """Allow or refuse a further search; its `tool` event follows."""
        run, number = _required(frame, "run"), parse_seq(frame.get("step"), name="step")
        decision = frame.get("decision")
        await in_database(decide_step, run, number, decision, caller=self._me)

    async def ping(self, frame: dict[str, Any]) -> None:
        if self._temporary:  # the tab that told that it went may have been another one
            await in_database(come_back, self._me.user_id, self._temporary)
        await self._say({"type": "pong"})

    # Following

    def _follow(self, ids: RunIds, *, after: int) -> None:
        before = self._followed.pop(ids.run, None)
        if before is not None:
            before.cancel()
        elif len(self._followed) >= MOST_FOLLOWED:
            oldest = next(iter(self._followed))
            self._followed.pop(oldest).cancel()
        followed = self._followed[ids.run] = Following(ids, after)
        followed.task = asyncio.create_task(self._pass_on(followed))
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._keep_watch())

    async def _pass_on(self, followed: Following) -> None:
        ids = followed.ids
        try:
            async with (
                own_database_thread(),
                aclosing(self._runs.follow(ids.run, after=followed.seq)) as events,
            ):
                async for event in events:
                    followed.seq = event.seq
                    await self._say(to_wire(event, ids))
                    if event.type is EventType.DONE:
                        self._await_title(ids)
        except (DatabaseError, InterfaceError):
            log.warning("following_failed", run=str(ids.run))
            await self._end(CloseCode.TRY_AGAIN)
        else:
            self._followed.pop(ids.run, None)

    def _await_title(self, ids: RunIds) -> None:
        task = asyncio.create_task(self._tell_title(ids))
        self._naming.add(task)
        task.add_done_callback(self._naming.discard)

    async def _tell_title(self, ids: RunIds) -> None:
        """The title of a conversation whose first answer is written. It blocks nothing."""
        try:
            async with own_database_thread():
                title = await self._runs.title_after(ids)
        except (DatabaseError, InterfaceError):
            log.warning("title_not_told", run=str(ids.run))
            return
        if title:
            conversation = str(ids.conversation)
            await self._say({"type": "title", "conversation": conversation, "title": title})

    async def _keep_watch(self) -> None:
        """While anything is followed, see to it that it may be; and once more after it ended:
        a run whose asker was deleted is gone before that is seen."""
        clock = asyncio.get_running_loop().time
        checked = clock()
        while True:
            was_over = not (self._followed or self._naming)
            try:
                await self._check_followed()
                checked = clock()
            except (DatabaseError, InterfaceError) as error:
                log.warning("watch_failed", error=type(error).__name__)
                if clock() - checked > self.most_unchecked:
                    await self._end(CloseCode.TRY_AGAIN)
            if was_over and not (self._followed or self._naming):
                return
            await asyncio.sleep(seconds_to_beat(clock(), self.check_every))

    async def _check_followed(self) -> None:
        """End the socket of who signed out, and each stream that may not be read any more."""
        by_message = {followed.ids.message: followed for followed in self._followed.values()}
        may = await self._runs.permission_of(self._me, by_message)
        if not may.is_signed_in:
            await self._end(CloseCode.SIGNED_OUT)
        for message in may.lost:
            followed = by_message[message]
            if self._followed.get(followed.ids.run) is followed:
                followed.cancel()
                del self._followed[followed.ids.run]
                await self._say(to_wire(rights_lost_after(followed.seq), followed.ids))

    async def _say(self, frame: dict[str, Any]) -> None:
        text = json.dumps(frame)
        self._unheard += len(text)
        if self._unheard > MOST_UNHEARD:
            await self._end(CloseCode.TOO_SLOW)
            return
        await self.send(text_data=text)

    async def _end(self, code: CloseCode) -> None:
        self._leave_all()
        await self.close(int(code))  # daphne takes no subclass of int

    def _leave_all(self) -> None:
        """Follow nothing more. The runs themselves go on."""
        for followed in self._followed.values():
            followed.cancel()
        self._followed.clear()
        for task in self._naming:
            task.cancel()
        if self._watch is not None and self._watch is not asyncio.current_task():
            self._watch.cancel()

    def _leave_temporary(self) -> None:
        if leave(self._me.user_id, self._temporary):
            request_early_sweep()

    async def _check_caller(self) -> None:
        may = await in_database(permission_of, self._me)
        if not may.is_signed_in:
            raise SignedOut

    async def _refuse(self, frame: dict[str, Any], refusal: Refused) -> None:
        client_id = parse_client_id(frame)
        await self._say(
            {"type": "refused", "id": client_id, "code": refusal.code, "text": str(refusal)}
        )

    @property
    def _runs(self) -> Runs:
        return self.get_runs()

    @property
    def _me(self) -> Caller:
        if self._caller is None:
            raise SignedOut
        return self._caller


COMMANDS: dict[str, Command] = {
    "ask": ChatConsumer.ask,
    "attach": ChatConsumer.attach,
    "stop": ChatConsumer.stop,
    "decide": ChatConsumer.decide,
    "ping": ChatConsumer.ping,
}
# What each of them reads besides its `type` and its `id`.
KEYS: dict[str, tuple[str, ...]] = {
    "ask": ASK_KEYS,
    "attach": ("conversation", "run", "after"),
    "stop": ("run",),
    "decide": ("run", "step", "decision"),
    "ping": (),
}


def parse_client_id(frame: dict[str, Any]) -> str:
    """The client's own name for a command, echoed in the answer to it."""
    value = frame.get("id")
    return value[:100] if isinstance(value, str) else ""


def _parse_frame(text: str | None) -> dict[str, Any]:
    if text is None:
        raise BadAsk("Frames are JSON text.")
    if len(text) > LARGEST_FRAME:
        raise BadAsk(f"A frame has at most {LARGEST_FRAME:,} characters.")
    try:
        frame = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadAsk("This frame is not JSON.") from error
    if not isinstance(frame, dict):
        raise BadAsk("A frame is a JSON object.")
    if not isinstance(frame.get("type"), str) or frame["type"] not in COMMANDS:
        raise BadAsk(f"“type” must be one of {', '.join(COMMANDS)}.")
    return frame


def _required(frame: dict[str, Any], name: str) -> UUID:
    value = parse_uuid(frame.get(name), name=name)
    if value is None:
        raise BadAsk(f"“{name}” is missing.")
    return value
