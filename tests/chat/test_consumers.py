"""The socket: what is asked, heard, refused and ended."""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.contrib.sessions.models import Session
from django.test import Client

from chat import consumers
from chat.gathering import seconds_to_beat
from chat.models import Conversation, Message
from chat.threads import thread
from providers.core.types import TextDelta, Usage, Withdrawal
from providers.testing import FakeChat
from tests.cast import Cast
from tests.chat.world import PATIENCE, QUICK, Socket, World, allow_connections
from vault.models import VaultMember

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


async def ask(socket: Socket, text: str = "When did the pump fail?") -> dict[str, Any]:
    """Ask, and listen until the first words."""
    await socket.say(type="ask", id="a1", text=text)
    accepted = await socket.hear()
    assert accepted["type"] == "accepted", accepted
    await socket.hear_type("delta")
    return accepted


async def test_a_question_is_answered_with_sources_first(world: World, people: Cast) -> None:
    socket = await world.socket(people.mate)
    await socket.say(type="ask", id="a1", text="When did the pump fail?")
    accepted = await socket.hear()
    frames = await socket.hear_to_the_end()
    assert accepted["id"] == "a1"
    assert frames[0]["type"] == "sources"
    assert [frame["seq"] for frame in frames] == list(range(1, len(frames) + 1))
    blocks = {f["index"]: f["html"] for f in frames if f["type"] == "block"}
    assert "".join(blocks[index] for index in sorted(blocks)) == frames[-1]["html"]
    await socket.disconnect()


async def test_two_conversations_on_one_socket_do_not_mix(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("First"), 0.05, TextDelta(" one"), Usage())
    FakeChat.play(TextDelta("Second"), 0.05, TextDelta(" two"), Usage())
    socket = await world.socket(people.mate)
    await socket.say(type="ask", text="One?")
    await socket.hear_type("accepted")
    await socket.say(type="ask", text="Two?")
    heard: dict[str, list[dict[str, Any]]] = {}
    while sum(frames[-1]["type"] == "done" for frames in heard.values()) < 2:
        frame = await socket.hear()
        if "seq" in frame:
            heard.setdefault(frame["run"], []).append(frame)
    for frames in heard.values():
        assert [frame["seq"] for frame in frames] == list(range(1, len(frames) + 1))
        assert len({frame["conversation"] for frame in frames}) == 1
    await socket.disconnect()


async def test_nobody_connects_without_a_session(world: World, people: Cast) -> None:
    socket = Socket(world, Client())
    connected, _ = await socket.connect(timeout=PATIENCE)
    assert not connected


END_OF_A_SESSION = ("suspend", "sign out", "session row", "password", "delete")


async def end_session(how: str, people: Cast, socket: Socket) -> None:
    """What an admin, or the user in another tab, may do while a socket is open."""
    if how == "suspend":
        people.mate.is_active = False
        await people.mate.asave()
    elif how == "sign out":
        await sync_to_async(socket.client.logout)()
    elif how == "session row":
        await Session.objects.all().adelete()
    elif how == "password":
        people.mate.set_password("another one entirely")
        await people.mate.asave()
    else:
        await people.mate.adelete()


@pytest.mark.parametrize("how", END_OF_A_SESSION)
async def test_a_frame_of_who_has_no_session_any_more_closes_the_socket(
    how: str, world: World, people: Cast
) -> None:
    socket = await world.socket(people.mate)
    await end_session(how, people, socket)
    await socket.say(type="ask", text="When did the pump fail?")
    assert await socket.hear_close() == 4401
    assert not await Message.objects.aexists()
    assert not FakeChat.requests


@pytest.mark.parametrize("how", END_OF_A_SESSION)
async def test_a_stream_ends_for_who_has_no_session_any_more(
    how: str, world: World, people: Cast
) -> None:
    FakeChat.play(TextDelta("Going on"), asyncio.Event())
    socket = await world.socket(people.mate, check_every=0.05)
    await ask(socket)
    began = asyncio.get_running_loop().time()
    await end_session(how, people, socket)
    assert await socket.hear_close() == 4401
    assert asyncio.get_running_loop().time() - began < 20


async def test_a_socket_is_closed_also_when_its_run_was_deleted_before_anybody_looked(
    world: World, people: Cast
) -> None:
    """The run ends between two looks, so that at the next one nothing is followed."""
    FakeChat.play(TextDelta("Going on"), asyncio.Event())
    socket = await world.socket(people.mate, check_every=1.0)
    await ask(socket)
    now = asyncio.get_running_loop().time()
    await asyncio.sleep(seconds_to_beat(now, 1.0))  # a look is taken now
    await end_session("delete", people, socket)
    assert await socket.hear_close() == 4401


async def test_a_stream_ends_when_its_vault_may_not_be_read_any_more(
    world: World, people: Cast
) -> None:
    FakeChat.play(TextDelta("Going on"), asyncio.Event())
    socket = await world.socket(people.mate, check_every=0.05)
    await ask(socket)
    await VaultMember.objects.filter(user=people.mate).adelete()
    frames = await socket.hear_to_the_end()
    assert (frames[-1]["type"], frames[-1]["code"]) == ("error", "rights_changed")
    assert (frames[-1]["html"], frames[-1]["citations"]) == ("", [])
    told = [frame["seq"] for frame in frames]
    assert told == list(range(told[0], told[0] + len(told)))
    await socket.say(type="ping")
    assert (await socket.hear())["type"] == "pong"
    FakeChat.play(TextDelta("Without notes."), Usage())
    await socket.say(type="ask", text="And without the notes?")
    assert (await socket.hear_to_the_end())[-1]["type"] == "done"
    await socket.disconnect()


async def test_losing_one_vault_leaves_the_other_streams_alone(world: World, people: Cast) -> None:
    going_on = asyncio.Event()
    FakeChat.play(TextDelta("From the team's notes"), asyncio.Event())
    FakeChat.play(TextDelta("From nothing"), going_on, TextDelta(" at all."), Usage())
    socket = await world.socket(people.mate, check_every=0.05)
    lost = await ask(socket)
    await socket.say(type="ask", text="Hello?", mode="no_notes")
    kept = await socket.hear_type("accepted")
    await VaultMember.objects.filter(user=people.mate).adelete()
    assert (await socket.hear_type("error"))["run"] == lost["run"]
    going_on.set()
    assert (await socket.hear_type("done"))["run"] == kept["run"]
    await socket.disconnect()


async def test_a_stream_outlives_a_moment_without_a_database(
    world: World, people: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    world.runs._pace = replace(QUICK, outage=30.0)
    going_on = asyncio.Event()
    FakeChat.play(TextDelta("First. "), going_on, TextDelta("Second."), Usage())
    socket = await world.socket(people.mate, check_every=0.05)
    await ask(socket)
    await sync_to_async(allow_connections)(allowed=False)
    try:
        while "watch_failed" not in caplog.text:
            await asyncio.sleep(0.01)
    finally:
        await sync_to_async(allow_connections)(allowed=True)
    await VaultMember.objects.filter(user=people.mate).adelete()
    assert (await socket.hear_type("error"))["code"] == "rights_changed"
    await socket.disconnect()


async def test_a_stream_that_cannot_be_checked_for_long_is_closed(
    world: World, people: Cast
) -> None:
    FakeChat.play(TextDelta("First. "), asyncio.Event())
    socket = await world.socket(people.mate, check_every=0.05, most_unchecked=0.2)
    await ask(socket)
    await sync_to_async(allow_connections)(allowed=False)
    try:
        assert await socket.hear_close() == 4503
    finally:
        await sync_to_async(allow_connections)(allowed=True)


async def test_the_title_comes_after_the_end_and_blocks_no_question(
    world: World, people: Cast
) -> None:
    naming = asyncio.Event()
    FakeChat.play(TextDelta("In March."), Usage())
    FakeChat.play(naming, TextDelta("Pump failure"), Usage())
    socket = await world.socket(people.mate)
    await socket.say(type="ask", text="When did the pump fail?")
    accepted = await socket.hear()
    assert (await socket.hear_to_the_end())[-1]["type"] == "done"
    FakeChat.play(TextDelta("The seal."), Usage())
    await socket.say(type="ask", text="And why?", conversation=accepted["conversation"])
    assert (await socket.hear_to_the_end())[-1]["type"] == "done"
    naming.set()
    title = await socket.hear_type("title")
    assert title["title"] == "Pump failure"
    assert title["conversation"] == accepted["conversation"]
    assert "run" not in title
    await socket.disconnect()


async def test_withdrawn_reasoning_is_taken_back_from_who_saw_it_and_who_comes_later(
    world: World, people: Cast
) -> None:
    going_on = asyncio.Event()
    FakeChat.play(
        TextDelta("Let me think.\n\n"),
        0.05,
        Withdrawal(),
        TextDelta("In March."),
        going_on,
        Usage(),
    )
    socket = await world.socket(people.mate)
    await socket.say(type="ask", text="When did the pump fail?")
    accepted = await socket.hear()
    await socket.hear_type("reset")
    said = await socket.hear_type("delta")
    conversation = await Conversation.objects.aget(pk=accepted["conversation"])
    read = sync_to_async(thread)
    while (shown := (await read(conversation, people.mate))[1])["seq"] < said["seq"]:
        await asyncio.sleep(0.01)
    assert shown["text"] == "In March."
    going_on.set()
    assert (await socket.hear_to_the_end())[-1]["html"].strip() == "<p>In March.</p>"
    await socket.disconnect()


async def test_commands_on_what_belongs_to_somebody_else_are_refused_alike(
    world: World, people: Cast
) -> None:
    mine = await world.socket(people.mate)
    FakeChat.play(TextDelta("Going on"), asyncio.Event())
    accepted = await ask(mine)
    theirs = await world.socket(people.owner)
    asked = len(FakeChat.requests)
    heard = []
    for ids in (accepted, {name: str(uuid4()) for name in ("run", "conversation", "message")}):
        conversation, run = ids["conversation"], ids["run"]
        for frame in (
            {"type": "ask", "id": "x", "text": "Hello", "conversation": conversation},
            {"type": "ask", "id": "x", "conversation": conversation, "again": ids["message"]},
            {"type": "attach", "id": "x", "conversation": conversation},
            {"type": "attach", "id": "x", "conversation": conversation, "run": run},
            {"type": "stop", "id": "x", "run": run},
            {"type": "decide", "id": "x", "run": run, "step": 1, "decision": "allow"},
        ):
            await theirs.say(**frame)
            heard.append(await theirs.hear())
    assert {json.dumps(frame, sort_keys=True) for frame in heard} == {
        json.dumps(
            {
                "type": "refused",
                "id": "x",
                "code": "not_found",
                "text": "There is no such conversation or answer.",
            },
            sort_keys=True,
        )
    }
    assert len(FakeChat.requests) == asked
    assert await Message.objects.acount() == 2
    await mine.disconnect()
    await theirs.disconnect()


async def test_a_run_of_another_conversation_is_not_attached(world: World, people: Cast) -> None:
    socket = await world.socket(people.mate)
    FakeChat.play(TextDelta("Going on"), asyncio.Event())
    accepted = await ask(socket)
    other = await Conversation.objects.acreate(owner=people.mate)
    await socket.say(type="attach", conversation=str(other.pk), run=accepted["run"])
    assert (await socket.hear_type("refused"))["code"] == "not_found"
    await socket.disconnect()


BAD_FRAMES = [
    ("", "Frames are JSON text."),
    ("{", "This frame is not JSON."),
    ("[" * 50_000, "This frame is not JSON."),
    ("[]", "A frame is a JSON object."),
    ("{}", "“type” must be one of ask, attach, stop, decide, ping."),
    ('{"type": ["ask"]}', "“type” must be one of ask, attach, stop, decide, ping."),
    ('{"type": "__init__"}', "“type” must be one of ask, attach, stop, decide, ping."),
    ('{"type": "ask"}', "“text” must be the question as a string."),
    ('{"type": "ask", "text": "\\u0000 \\ud800"}', "The question is empty"),
    ('{"type": "ask", "text": "x", "conversation": "1 or 1=1"}', "“conversation” must be a UUID"),
    ('{"type": "ask", "text": "x", "conversation": 9999999999999999999}', "“conversation” must"),
    ('{"type": "ask", "text": "x", "model": "%00"}', "“model” must be the number of a model"),
    ('{"type": "ask", "text": "x", "vaults": "team"}', "“vaults” must be a list"),
    ('{"type": "ask", "text": "x", "mode": "all"}', "“mode” must be one of"),
    (
        '{"type": "ask", "txt": "x"}',
        "“txt” is not known here. Did you mean “text”? Known are: again",
    ),
    ('{"type": "stop", "runs": 1}', "“runs” is not known here. Did you mean “run”? Known are: id"),
    ('{"type": "ping", "x": 1}', "“x” is not known here. Known are: id, type."),
    ('{"type": "attach"}', "“conversation” is missing."),
    ('{"type": "attach", "conversation": "%00"}', "“conversation” must be a UUID"),
    ('{"type": "attach", "conversation": "' + str(uuid4()) + '", "after": -1}', "“after” must"),
    ('{"type": "stop"}', "“run” is missing."),
    ("x" * 100_001, "A frame has at most 100,000 characters."),
]


async def test_a_frame_that_cannot_be_understood_is_refused_with_the_reason(
    world: World, people: Cast
) -> None:
    socket = await world.socket(people.mate)
    for text, reason in BAD_FRAMES:
        await (socket.send_to(text_data=text) if text else socket.send_to(bytes_data=b"{}"))
        refused = await socket.hear()
        assert (refused["type"], refused["code"]) == ("refused", "bad_request"), text
        assert reason in refused["text"]
    await socket.say(type="ping")
    assert (await socket.hear())["type"] == "pong"
    assert not await Message.objects.aexists()
    await socket.disconnect()


async def test_random_frames_never_break_the_socket(world: World, people: Cast) -> None:
    chance = random.Random(3)
    values: list[Any] = [None, True, -1, 0, 2**70, 1.5, "", "x", "\x00", [], {}, [1], str(uuid4())]
    names = ["id", "conversation", "text", "mode", "vaults", "model", "persona", "run", "after"]
    socket = await world.socket(people.mate)
    for _ in range(150):
        frame = {name: chance.choice(values) for name in chance.sample(names, 4)}
        await socket.say(type=chance.choice(["attach", "stop"]), **frame)
        assert (await socket.hear())["type"] == "refused"
    await socket.disconnect()


async def test_a_client_that_never_answers_is_closed_and_misses_nothing(
    world: World, people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "MOST_UNHEARD", 3000)
    steps: list[Any] = []
    for number in range(60):
        steps += [TextDelta(f"A word of some length {number} "), 0.012]
    FakeChat.play(*steps, Usage())
    socket = await world.socket(people.mate)
    await socket.say(type="ask", text="When did the pump fail?")
    accepted = await socket.hear()
    seen, code = [], None
    while code is None:
        output = await socket.receive_output(timeout=PATIENCE)
        if output["type"] == "websocket.close":
            code = output["code"]
        else:
            seen.append(json.loads(output["text"]))
    assert code == 4408
    monkeypatch.setattr(consumers, "MOST_UNHEARD", 1_000_000)
    again = await world.socket(people.mate)
    await again.say(
        type="attach",
        conversation=accepted["conversation"],
        run=accepted["run"],
        after=seen[-1]["seq"],
    )
    assert (await again.hear())["type"] == "attached"
    rest = await again.hear_to_the_end()
    assert [f["seq"] for f in (*seen, *rest)] == list(range(1, len(seen) + len(rest) + 1))
    await again.disconnect()
