"""A model's title: kept only when it is one, recorded in any case."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async

from chat import small_calls
from chat.core.events import RunIds
from chat.models import Conversation
from chat.titles import make_title, save_title
from providers.core.errors import Unauthorized
from providers.core.types import ReasoningDelta, TextDelta, Usage
from providers.models import UsageRecord
from providers.testing import FakeChat
from tests.cast import Cast
from tests.chat.world import FixedRetrieval, World, make_providing

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


async def title(world: World, people: Cast, *parts: Any) -> str | None:
    FakeChat.play(*parts)
    return await make_title(
        world.model,
        make_providing(FixedRetrieval()),
        question="Коли перенесли ремонт насоса?",
        user_id=people.mate.pk,
    )


async def test_a_good_title_is_cleaned(world: World, people: Cast) -> None:
    parts = (ReasoningDelta("hm"), TextDelta('"Перенесення '), TextDelta('ремонту"'), Usage(5, 2))
    assert await title(world, people, *parts) == "Перенесення ремонту"
    record = await UsageRecord.objects.aget()
    assert (record.purpose, record.input_tokens, record.failed_with) == ("title", 5, "")
    request = FakeChat.requests[-1]
    assert "in the language of the question" in request.system
    assert "насоса" in request.messages[0].content


async def test_a_failing_model_gives_none(world: World, people: Cast) -> None:
    assert await title(world, people, Unauthorized("The key was refused.")) is None
    assert (await UsageRecord.objects.aget()).failed_with == "unauthorized"


async def test_a_silent_model_is_not_waited_for(
    world: World, people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_calls, "MOST_SECONDS", 0.05)
    assert await title(world, people, asyncio.Event()) is None
    assert (await UsageRecord.objects.aget()).failed_with == "silent"


async def test_a_title_is_saved_unless_the_owner_gave_one(people: Cast, world: World) -> None:
    unnamed = await Conversation.objects.acreate(owner=people.mate, title="First words")
    named = await Conversation.objects.acreate(owner=people.mate, title="Mine", title_is_final=True)
    save = sync_to_async(save_title)
    for conversation in (unnamed, named):
        await save(RunIds(uuid4(), conversation.pk, uuid4()), "Better")
    found = Conversation.objects.filter(owner=people.mate).values_list("title", flat=True)
    assert {each async for each in found} == {"Better", "Mine"}
