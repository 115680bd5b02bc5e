"""Calls of tools as a stream tells them: in pieces, by place, not always in good order."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from providers.core.text import clean
from providers.core.types import ToolCall, ToolSpec

MOST_CALLS = 64
"""A reply that asks for more is a flood."""


@dataclass(frozen=True, slots=True)
class CallDelta:
    """A piece of a call. `place` numbers the calls of a reply; None: the server numbers none.

    `arguments` continues the JSON text of the call; an id and a name come once.
    """

    place: int | None = None
    id: str = ""
    name: str = ""
    arguments: str = ""

    @property
    def size(self) -> int:
        """Characters that it adds to the reply."""
        return len(self.id) + len(self.name) + len(self.arguments)


@dataclass
class _Growing:
    place: int | None
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class CallCollector:
    """Puts the calls of one reply together."""

    def __init__(self) -> None:
        self._calls: list[_Growing] = []

    def feed(self, delta: CallDelta) -> None:
        """Take a piece in. Calls beyond MOST_CALLS are not heard."""
        call = self._call_of(delta)
        if call is None:
            if len(self._calls) >= MOST_CALLS:
                return
            call = _Growing(delta.place)
            self._calls.append(call)
        call.id = call.id or delta.id
        call.name = call.name or delta.name
        call.arguments.append(delta.arguments)

    def calls(self) -> list[ToolCall]:
        """The calls so far. A missing id is made up; no arguments are an empty object."""
        taken = {call.id for call in self._calls if call.id}
        made: list[ToolCall] = []
        for number, call in enumerate(self._calls, start=1):
            own = call.id or _free_id(number, taken)
            taken.add(own)
            arguments = clean("".join(call.arguments)).strip() or "{}"
            made.append(ToolCall(clean(own), clean(call.name), arguments))
        return made

    def _call_of(self, delta: CallDelta) -> _Growing | None:
        """The call that `delta` goes on with; None: it begins one.

        Some servers put every parallel call at place 0, or give no place at all: a new id
        tells them apart, and without one a name that comes when there is one already.
        """
        same_place = [call for call in self._calls if call.place == delta.place]
        if not same_place:
            return None
        last = same_place[-1]
        if delta.id and last.id and delta.id != last.id:
            return next((call for call in same_place if call.id == delta.id), None)
        if not delta.id and delta.place is None and delta.name and last.name:
            return None
        return last


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """The call's arguments as an object; none where its JSON is broken or something else."""
    try:
        given = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    # An escape may spell half of a character, which no request can carry.
    whole = json.loads(clean(json.dumps(given, ensure_ascii=False)))
    return whole if isinstance(whole, dict) else {}


def function_of(tool: ToolSpec) -> dict[str, Any]:
    """A tool in the form of chat completions, which Ollama shares."""
    parameters = dict(tool.schema)
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _free_id(number: int, taken: set[str]) -> str:
    while (made := f"call_{number}") in taken:
        number += 1
    return made
