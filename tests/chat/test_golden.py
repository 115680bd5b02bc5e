"""Every event, letter by letter, as tests/chat/golden/*.json tells the front end."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from providers.core.errors import Unreachable
from providers.core.types import TextDelta, ToolCall, Usage, Withdrawal
from providers.testing import FakeChat
from tests.cast import Cast
from tests.chat.world import Socket, World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]

GOLDEN = {
    path.stem: json.loads(path.read_text()) for path in Path(__file__).parent.glob("golden/*")
}
QUESTION = "When did the pump fail?"
WORDS = TextDelta("The pump failed in March. [1]\n\n")


def normal(frame: dict[str, Any], accepted: dict[str, Any]) -> dict[str, Any]:
    """`frame` with the ids of the golden files in place of today's."""
    text = json.dumps(frame)
    for name in ("run", "conversation", "message", "user_message"):
        text = text.replace(accepted[name], GOLDEN["accepted"][name])
    result: dict[str, Any] = json.loads(re.sub(r"source=\d+", "source=7", text))
    return result


async def ask(world: World, people: Cast) -> tuple[dict[str, Any], Socket]:
    socket = await world.socket(people.mate)
    await socket.say(type="ask", id="a1", text=QUESTION)
    accepted = await socket.hear()
    return accepted, socket


async def test_a_whole_answer_says_what_the_golden_files_say(world: World, people: Cast) -> None:
    FakeChat.play(WORDS, Usage(120, 6))
    FakeChat.play(TextDelta("**Title:** Pump failure."), Usage(9, 3))
    accepted, socket = await ask(world, people)
    said = [normal(frame, accepted) for frame in await socket.hear_to_the_end()]
    assert normal(accepted, accepted) == GOLDEN["accepted"]
    kinds = ["sources", "status", "delta", "block", "done"]
    closed = [f for f in said if f["type"] != "block" or f["closed"]]
    assert [frame["type"] for frame in closed if frame["type"] != "block"] == [
        kind for kind in kinds if kind != "block"
    ]
    for frame in closed:
        golden = dict(GOLDEN[frame["type"]])
        golden["seq"] = frame["seq"]
        assert frame == golden
    assert [frame["seq"] for frame in said] == list(range(1, len(said) + 1))
    assert normal(await socket.hear_type("title"), accepted) == GOLDEN["title"]
    await socket.disconnect()


async def test_withdrawn_words_say_what_the_golden_file_says(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("Hm. "), 0.05, Withdrawal(), WORDS, Usage(120, 6))
    accepted, socket = await ask(world, people)
    reset = normal(await socket.hear_type("reset"), accepted)
    assert reset | {"seq": 4} == GOLDEN["reset"] | {"seq": 4}
    await socket.disconnect()


async def test_a_further_search_says_what_the_golden_file_says(world: World, people: Cast) -> None:
    call = ToolCall("c1", "search", '{"query": "the cause", "why": "only the date is known"}')
    FakeChat.play(call, Usage(1, 1, "tool"))
    FakeChat.play(WORDS, Usage(120, 6))
    socket = await world.socket(people.mate)
    await socket.say(type="ask", id="a1", text=QUESTION, tool_use="auto")
    accepted = await socket.hear()
    while (frame := await socket.hear_type("tool"))["state"] != "done":
        pass
    told = normal(frame, accepted) | {"seq": 4, "milliseconds": 7}
    html = re.sub(r" · \d+ ms", "", told["html"])
    told["html"] = " ".join(re.sub(r"<svg.*?</svg>", "", html).split())
    assert told == GOLDEN["tool"]
    await socket.disconnect()


async def test_a_failing_model_says_what_the_golden_file_says(world: World, people: Cast) -> None:
    FakeChat.play(WORDS, Unreachable("The fake model was told to fail with unreachable."))
    accepted, socket = await ask(world, people)
    last = normal((await socket.hear_to_the_end())[-1], accepted)
    assert last | {"seq": 6} == GOLDEN["error"]
    await socket.disconnect()


async def test_commands_are_answered_as_the_golden_files_say(world: World, people: Cast) -> None:
    FakeChat.play(WORDS, 60.0)
    accepted, socket = await ask(world, people)
    await socket.hear_type("delta")
    await socket.say(type="ping")
    assert await socket.hear_type("pong") == GOLDEN["pong"]
    await socket.say(type="ask", id="a1", text="Once more", conversation=accepted["conversation"])
    assert await socket.hear_type("refused") == GOLDEN["refused"]
    await socket.say(type="attach", conversation=accepted["conversation"], run=None, after=0)
    assert normal(await socket.hear_type("attached"), accepted) == GOLDEN["attached"]
    await socket.say(type="stop", run=accepted["run"])
    last = normal((await socket.hear_to_the_end())[-1], accepted)
    assert min(last["usage"].values()) > 0  # an estimate: the model was cut off before it said
    assert last | {"seq": 6, "usage": GOLDEN["stopped"]["usage"]} == GOLDEN["stopped"]
    await socket.say(type="attach", conversation=accepted["conversation"])
    assert await socket.hear_type("attached") == GOLDEN["attached_idle"]
    await socket.disconnect()
