"""Citations judged by meaning when an answer ends."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from asgiref.sync import sync_to_async

from chat.core.asking import Ask
from chat.core.events import Event
from chat.models import Message
from chat.threads import thread
from providers.core.errors import Overloaded
from providers.core.protocols import Vectors
from providers.core.types import TextDelta, Usage
from providers.testing import FakeChat
from tests.cast import Cast
from tests.chat.world import World, caller

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


async def answer(world: World, people: Cast) -> tuple[list[Event], Message]:
    """The events of a whole turn, and the message it left."""
    me = await sync_to_async(caller)(people.owner)
    turn = await world.runs.start(Ask(text="When did the pump fail?"), caller=me)
    events = [event async for event in world.runs.follow(turn.ids.run)]
    found = Message.objects.select_related("conversation")
    return events, await found.aget(pk=turn.ids.message)


async def test_meaning_judges_a_translated_citation_once_for_stream_and_reload(
    world: World, people: Cast
) -> None:
    async def unlike(texts: Sequence[str]) -> Vectors:
        return np.eye(len(texts), dtype=np.float32)

    world.retrieval.meanings = unlike
    FakeChat.play(TextDelta("Двигатель заменила сторонняя фирма. [1]"), Usage(9, 12))
    events, message = await answer(world, people)
    assert [citation["weak"] for citation in message.citations] == [True]
    assert 'class="cite weak"' in events[-1].data["html"]
    shown = await sync_to_async(thread)(message.conversation, people.owner)
    assert shown[-1]["html"] == events[-1].data["html"]
    assert shown[-1]["citations"] == message.citations


async def test_an_answer_ends_in_time_without_what_meaning_says(world: World, people: Cast) -> None:
    async def away(_texts: Sequence[str]) -> Vectors:
        raise Overloaded("Busy.")

    world.retrieval.meanings = away
    FakeChat.play(TextDelta("Насос отказал в марте. [1]"), Usage(9, 12))
    _, message = await answer(world, people)
    assert message.status == "done"
    assert [citation["weak"] for citation in message.citations] == [False]
