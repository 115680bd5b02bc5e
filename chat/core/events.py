"""What a run says to whoever listens: numbered events, and how they look on the wire."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID


class EventType(StrEnum):
    """`sources` is always the first event of a run, one of TERMINAL the last.

    `reset`: all words and blocks so far were the model's reasoning. They are no part of
    the answer, which begins anew with what follows.

    `tool` tells of a step of the model, once for each state it comes to; `sources` follows
    again, whole, when a step found passages.
    """

    SOURCES = "sources"
    STATUS = "status"
    TOOL = "tool"
    DELTA = "delta"
    BLOCK = "block"
    RESET = "reset"
    DONE = "done"
    STOPPED = "stopped"
    ERROR = "error"


TERMINAL = frozenset({EventType.DONE, EventType.STOPPED, EventType.ERROR})


@dataclass(frozen=True, slots=True)
class Event:
    """The `seq`-th thing said in a run, counted from 1 without a gap."""

    seq: int
    type: EventType
    data: dict[str, Any] = field(default_factory=dict)

    @property
    def is_last(self) -> bool:
        return self.type in TERMINAL


@dataclass(frozen=True, slots=True)
class RunIds:
    """The run an event belongs to, and where its answer stands."""

    run: UUID
    conversation: UUID
    message: UUID


def to_wire(event: Event, ids: RunIds) -> dict[str, Any]:
    """The JSON object that sockets and server-sent events carry."""
    return {
        "type": event.type.value,
        "run": str(ids.run),
        "conversation": str(ids.conversation),
        "message": str(ids.message),
        "seq": event.seq,
        **event.data,
    }


def to_row(event: Event) -> dict[str, Any]:
    """The JSON object that is kept in a RunEvent."""
    return {"seq": event.seq, "type": event.type.value, "data": event.data}


def from_row(row: dict[str, Any]) -> Event:
    """The event that `to_row` kept."""
    return Event(seq=row["seq"], type=EventType(row["type"]), data=row["data"])


def said_text(events: list[Event]) -> str:
    """The answer's text as far as `events` tell it."""
    said: list[str] = []
    for event in events:
        if event.type is EventType.DELTA:
            said.append(event.data["text"])
        elif event.type is EventType.RESET:
            said.clear()
    return "".join(said)
