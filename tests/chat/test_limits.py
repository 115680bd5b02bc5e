"""Limits and outages in a conversation: warned in time, stopped clearly, sources kept."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.cache import cache

from chat.core.asking import Ask
from chat.core.events import Event
from chat.models import Message
from providers import circuits
from providers.core.circuit import FAILURES_TO_OPEN
from providers.core.errors import CutOff
from providers.core.types import ReasoningDelta, TextDelta, Usage
from providers.models import UsageLimit, UsageRecord
from providers.testing import FakeChat
from tests.cast import Cast
from tests.chat.world import World, caller

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


async def answer(world: World, people: Cast) -> tuple[list[Event], Message]:
    """The events of a whole turn, and the message it left."""
    me = await sync_to_async(caller)(people.mate)
    turn = await world.runs.start(Ask(text="When did the pump fail?"), caller=me)
    events = [event async for event in world.runs.follow(turn.ids.run)]
    return events, await Message.objects.aget(pk=turn.ids.message)


async def limit(people: Cast, **used: Any) -> None:
    await UsageLimit.objects.acreate(user=people.mate, period="day", most_tokens=1_000)
    fields = {"purpose": "answer", "provider": "fake", "model": "cite", **used}
    await UsageRecord.objects.acreate(user=people.mate, **fields)


async def test_a_limit_that_is_nearly_used_up_is_told_with_the_sources(
    world: World, people: Cast
) -> None:
    await limit(people, input_tokens=900)
    events, message = await answer(world, people)
    warning = events[0].data["notices"][0]
    assert warning.startswith("90 % of the limit of mate@example.com is used: 900 of 1,000 tokens.")
    assert message.notices[0] == warning
    assert events[-1].type == "done"


async def test_over_the_limit_the_sources_come_and_the_model_is_not_asked(
    world: World, people: Cast
) -> None:
    await limit(people, input_tokens=600, output_tokens=400)
    FakeChat.requests.clear()
    events, message = await answer(world, people)
    assert events[0].data["passages"]
    last = events[-1]
    assert (last.type, last.data["code"]) == ("error", "limit_reached")
    assert "1,000 of 1,000 tokens. It begins anew on" in last.data["text"]
    assert "quotes without a model, which are never limited" in last.data["mend"]
    assert message.status == "failed"
    assert not FakeChat.requests


async def test_one_persons_limit_stops_nobody_else(world: World, people: Cast) -> None:
    await UsageLimit.objects.acreate(user=people.owner, period="day", most_tokens=0)
    events, _ = await answer(world, people)
    assert events[-1].type == "done"


async def test_a_provider_that_is_left_alone_fails_at_once_and_says_until_when(
    world: World, people: Cast
) -> None:
    for _ in range(FAILURES_TO_OPEN):
        await sync_to_async(circuits.note_failure)(world.model.provider, reason="It answered 500.")
    FakeChat.requests.clear()
    events, _ = await answer(world, people)
    last = events[-1]
    assert (last.type, last.data["code"]) == ("error", "circuit_open")
    assert "Fake: it failed and is not called until" in last.data["text"]
    assert "It answered 500." in last.data["text"]
    assert not FakeChat.requests
    cache.clear()


async def test_an_answer_that_was_stopped_or_cut_is_in_the_accounts(
    world: World, people: Cast
) -> None:
    FakeChat.play(
        ReasoningDelta("Let me think about it. "), TextDelta("It failed " * 30), CutOff("cut")
    )
    await answer(world, people)
    record = await UsageRecord.objects.aget(purpose="answer")
    assert record.failed_with == "cut_off"
    assert record.output_tokens > 60
    assert record.input_tokens > 50


async def test_stopping_by_hand_is_not_free_either(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("It failed " * 30), asyncio.Event())
    me = await sync_to_async(caller)(people.mate)
    turn = await world.runs.start(Ask(text="When did the pump fail?"), caller=me)
    async for event in world.runs.follow(turn.ids.run):
        if event.type == "delta":
            await world.runs.stop(turn.ids.run, caller=me)
    record = await UsageRecord.objects.aget(purpose="answer")
    assert record.output_tokens > 60


async def test_a_provider_that_reports_no_figures_is_estimated(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("It failed in March. [1]"), Usage(is_reported=False))
    events, _ = await answer(world, people)
    record = await UsageRecord.objects.aget(purpose="answer")
    assert record.output_tokens > 5
    assert record.input_tokens > 50
    assert events[-1].data["usage"] == {
        "input_tokens": record.input_tokens,
        "output_tokens": record.output_tokens,
    }


async def test_figures_that_were_reported_are_kept_as_they_are(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("It failed in March. [1]"), Usage(77, 7))
    await answer(world, people)
    record = await UsageRecord.objects.aget(purpose="answer")
    assert (record.input_tokens, record.output_tokens) == (77, 7)
