"""A temporary chat ends with its tab: when it counts as left, and when somebody came back."""

from __future__ import annotations

import pytest

from chat.models import Conversation
from tests.cast import Cast
from tests.chat.world import Socket, World
from vault.models import Job

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


async def shown_in(socket: Socket, conversation: str) -> None:
    """The tab has opened the conversation."""
    await socket.say(type="attach", conversation=conversation)
    assert (await socket.hear_type("attached"))["status"] == "idle"


async def test_a_temporary_chat_is_left_when_its_tab_closes_and_no_other_one_shows_it(
    world: World, people: Cast
) -> None:
    first, other = await world.socket(people.mate), await world.socket(people.mate)
    await first.say(type="ask", text="When did the pump fail?", temporary=True)
    talk = (await first.hear_type("accepted"))["conversation"]
    await first.hear_to_the_end()
    left = Conversation.objects.filter(pk=talk, left__isnull=False)
    await shown_in(other, talk)
    await first.disconnect(code=1006)
    assert not await left.aexists(), "a line that broke is no tab that closed"
    back = await world.socket(people.mate)
    await shown_in(back, talk)
    await back.disconnect(code=1001)
    assert await left.aexists()
    assert await Job.objects.filter(kind="chat_sweep").aexists()
    await other.say(type="ping")
    await other.hear_type("pong")
    assert not await left.aexists(), "the other tab still shows it"
    await other.disconnect(code=1001)
    assert await left.aexists()
    again = await world.socket(people.mate)
    await shown_in(again, talk)
    assert not await left.aexists(), "the page was loaded anew"
    await again.disconnect()


async def test_a_conversation_that_is_kept_is_not_left(world: World, people: Cast) -> None:
    kept = await Conversation.objects.acreate(owner=people.mate)
    socket = await world.socket(people.mate)
    await shown_in(socket, str(kept.pk))
    await socket.disconnect(code=1001)
    assert not await Conversation.objects.exclude(left=None).aexists()
