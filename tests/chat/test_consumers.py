"""The socket: what is asked, heard, refused and stopped."""

from __future__ import annotations

import pytest

from tests.cast import Cast
from tests.chat.world import World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


async def test_a_question_is_answered_with_sources_first(world: World, people: Cast) -> None:
    socket = await world.socket(people.mate)
    await socket.say(type="ask", id="a1", text="When did the pump fail?")
    accepted = await socket.hear()
    frames = await socket.hear_to_the_end()
    assert accepted["type"] == "accepted"
    assert accepted["id"] == "a1"
    assert accepted["title"] == "When did the pump fail?"
    assert frames[0]["type"] == "sources"
    assert frames[0]["passages"][0]["path"] == "Notes/Pump 1.md"
    assert [frame["seq"] for frame in frames] == list(range(1, len(frames) + 1))
    assert frames[-1]["type"] == "done"
    assert 'class="cite"' in frames[-1]["html"]
    assert frames[-1]["citations"][0]["quote"] == "The pump failed in March."
    await socket.disconnect()
