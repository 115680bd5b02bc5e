"""The pace of an answer: frames, blocks, listeners that fall behind."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from chat.core.asking import Ask
from chat.core.events import Event, EventType
from chat.gathering import Gathered
from chat.ledger import News, Standing
from chat.listening import Subscriber
from chat.models import Message
from providers.core.types import TextDelta, Usage
from providers.testing import FakeChat
from tests.cast import Cast
from tests.chat.world import QUICK, World, caller


async def heard(subscriber: Subscriber) -> list[int]:
    seqs = []
    while (event := await subscriber.events.get()) is not None:
        seqs.append(event.seq)
    return seqs


@pytest.mark.asyncio
async def test_a_listener_gets_everything_in_order_until_the_end() -> None:
    subscriber = Subscriber(size=5)
    for seq in range(1, 5):
        subscriber.give(Event(seq, EventType.DELTA))
    subscriber.cut()
    subscriber.cut()
    assert await heard(subscriber) == [1, 2, 3, 4]


@pytest.mark.asyncio
async def test_a_listener_that_falls_behind_is_cut_off_at_a_known_place() -> None:
    subscriber = Subscriber(size=3)
    for seq in range(1, 100):
        subscriber.give(Event(seq, EventType.DELTA))
    assert await heard(subscriber) == [1, 2, 3]
    assert subscriber.events.empty()


async def events_of(world: World, people: Cast, steps: list[Any]) -> list[Event]:
    FakeChat.play(*steps)
    me = await sync_to_async(caller)(people.mate)
    turn = await world.runs.start(Ask(text="Why?", mode="no_notes"), caller=me)
    return [event async for event in world.runs.follow(turn.ids.run)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.asyncio
async def test_many_words_share_a_frame(world: World, people: Cast) -> None:
    world.runs._pace = replace(QUICK, frame=0.05)
    steps: list[Any] = [TextDelta(f"w{number} ") for number in range(3000)]
    events = await events_of(world, people, [*steps, Usage()])
    deltas = [event for event in events if event.type == "delta"]
    assert sum(len(event.data["text"].split()) for event in deltas) == 3000
    assert len(deltas) < 300


@pytest.mark.django_db(transaction=True)
@pytest.mark.asyncio
async def test_a_long_open_block_is_sent_again_less_often(world: World, people: Cast) -> None:
    """What is sent stays near `block_bytes` a second, however long one block grows."""
    world.runs._pace = replace(QUICK, block_bytes=20_000)
    steps: list[Any] = []
    for number in range(100):
        steps += [TextDelta(f"some words in one long paragraph {number} "), 0.005]
    began = asyncio.get_running_loop().time()
    events = await events_of(world, people, [*steps, Usage()])
    seconds = asyncio.get_running_loop().time() - began
    blocks = [event.data for event in events if event.type == "block"]
    sent = sum(len(block["html"]) for block in blocks)
    largest = max(len(block["html"]) for block in blocks)
    assert blocks[-1]["closed"]
    assert sent <= 20_000 * seconds + 3 * largest


@pytest.mark.django_db(transaction=True)
@pytest.mark.asyncio
async def test_an_answer_that_cannot_be_kept_is_not_written_on_in_silence(
    world: World, people: Cast
) -> None:
    def broken(news: Sequence[News]) -> list[Standing | Exception]:
        raise ArithmeticError("nobody expected this")

    world.runs._keeper = Gathered(broken, seconds=0.01)
    events = await events_of(world, people, [TextDelta("First. "), asyncio.Event()])
    assert (events[-1].type, events[-1].data["code"]) == ("error", "internal")
    assert (await Message.objects.aget(role="assistant")).status == "failed"
