"""Runs as the tests begin and follow them."""

from __future__ import annotations

from contextlib import aclosing

from asgiref.sync import sync_to_async

from chat.core.asking import Ask
from chat.core.events import Event
from chat.history import Turn
from chat.models import Message
from chat.runs import Runs
from tests.cast import Cast
from tests.chat.world import World, caller


async def begin(world: World, people: Cast, text: str = "When did the pump fail?") -> Turn:
    return await world.runs.start(Ask(text=text), caller=await sync_to_async(caller)(people.mate))


async def all_events(runs: Runs, turn: Turn, after: int = 0) -> list[Event]:
    return [event async for event in runs.follow(turn.ids.run, after=after)]


async def hear_words(runs: Runs, turn: Turn) -> None:
    """Listen until the model has said something."""
    async with aclosing(runs.follow(turn.ids.run)) as events:
        async for event in events:
            if event.type == "delta":
                return


async def answer_of(turn: Turn) -> Message:
    return await Message.objects.aget(pk=turn.ids.message)
