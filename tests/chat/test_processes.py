"""Runs of real server processes: what an answer survives, and who else may end it.

Cut lines, a killed server, one that restarts, another process, readers that do not read.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import signal
from contextlib import aclosing
from datetime import timedelta
from typing import Any
from uuid import UUID

import psutil
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db.models.functions import Now
from openai import AsyncOpenAI
from websockets.exceptions import ConnectionClosed

from chat.models import Conversation, Message, Run
from tests.cast import Cast
from tests.chat.conftest import Pair
from tests.chat.line import (
    ENDS,
    UPGRADE,
    Deaf,
    Line,
    cookie_of,
    open_line,
    read_all,
    read_events,
    said_in,
)
from tests.chat.locked import no_search_ends, wait_for_another_search
from tests.chat.test_sse import bearer
from tests.chat.world import World, make_model
from tests.live import LiveProduct
from tests.retrieval.library import write_note
from tests.vault.processes import slowness

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.asyncio,
    pytest.mark.slow,
]
# 20 words a second for twenty seconds.
SLOW = "pause:0.05|words:400"
WORDS_A_SECOND = 20


async def script(world: World, name: str, **fields: Any) -> int:
    """A fake model of the servers that plays `name`; without fields it is the only one."""
    if not fields:
        await sync_to_async(world.model.delete)()
    model = await sync_to_async(make_model)(name, **fields)
    if not fields:
        world.model = model
    return model.pk


# Cut lines


async def listen_with_cuts(
    servers: Pair, cookie: str, accepted: dict[str, Any], chance: random.Random, cuts: int
) -> list[dict[str, Any]]:
    """A tab that loses its line `cuts` times and comes back to either server."""
    heard: list[dict[str, Any]] = []
    for turn in range(cuts + 1):
        line = await open_line(chance.choice(servers).url, cookie)
        await line.attach(accepted, after=heard[-1]["seq"] if heard else 0)
        until = chance.randint(0, 4) if turn < cuts else None
        while until is None or len(line.heard) < until:
            if (await line.hear())["type"] in ENDS:
                break
        heard += line.heard
        if until is None:
            await line.socket.close()
        else:
            line.socket.transport.abort()
            await line.socket.wait_closed()
        assert turn == cuts or not heard or heard[-1]["type"] not in ENDS, "too few cuts"
    return heard


async def test_two_hundred_cuts_leave_no_gap_and_no_duplicate(
    world: World, people: Cast, servers: Pair
) -> None:
    await script(world, "pause:0.05|words:200")
    cookie = await cookie_of(people.mate)
    asking = await open_line(servers[0].url, cookie)
    accepted = await asking.ask("Count", mode="no_notes")
    tabs = [
        listen_with_cuts(servers, cookie, accepted, random.Random(seed), cuts=20)
        for seed in range(10)
    ]
    heard = await asyncio.gather(*tabs)
    await asking.hear_type(*ENDS)
    await asking.socket.close()
    for events in heard:
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        assert events == asking.heard
    words = re.findall(r"\d+", asking.text)
    assert words == [str(number) for number in range(1, 201)]


# Two processes


COUNT = json.dumps({"text": "Count", "mode": "no_notes"})


async def messages_of(address: str, owner: User) -> str:
    """Where a question in a new conversation goes to."""
    conversation = await Conversation.objects.acreate(owner=owner)
    return f"{address}/api/chat/conversations/{conversation.pk}/messages"


async def test_a_run_of_another_process_is_followed_and_stopped_by_word_or_by_leaving(
    world: World, people: Cast, servers: Pair
) -> None:
    await script(world, SLOW)
    url = await messages_of(servers[0].url, people.mate)
    there: list[dict[str, Any]] = []
    async with aclosing(read_events("POST", url, await bearer(people.mate), body=COUNT)) as stream:
        async for event in stream:
            there.append(event)
            if len(there) == 10:
                break
        line = await open_line(servers[1].url, await cookie_of(people.mate))
        await line.attach(there[0], after=0)
        while len(line.heard) < len(there):
            await line.hear()
        await line.say(type="stop", run=there[0]["run"])
        await line.hear_type(*ENDS)
        await line.socket.close()
        there += [event async for event in stream]
    assert line.heard[-1]["type"] == "stopped"
    assert line.heard == there
    assert (await Message.objects.aget(pk=there[0]["message"])).status == "stopped"
    await leave_a_stream_of_openais_client(servers[1].url, people, world)


async def leave_a_stream_of_openais_client(address: str, people: Cast, world: World) -> None:
    """A client of OpenAI's form that hangs up ends the answer, as it does with OpenAI."""
    token = (await bearer(people.mate))["Authorization"].removeprefix("Bearer ")
    async with AsyncOpenAI(api_key=token, base_url=f"{address}/v1", max_retries=0) as client:
        stream = await client.chat.completions.create(
            model=f"fake/{SLOW}", messages=[{"role": "user", "content": "?"}], stream=True
        )
        heard = ""
        async for chunk in stream:
            heard += chunk.choices[0].delta.content or ""
            if len(heard.split()) >= 10:
                break
        await stream.close()
    run = await Run.objects.select_related("message").alatest("created")
    async with aclosing(world.runs.follow(run.pk)) as events:
        last = [event async for event in events][-1]
    assert last.type == "stopped"
    left = await Message.objects.aget(pk=run.message_id)
    assert left.text.startswith(heard.strip())
    assert len(left.text.split()) < 200, "it was not written to its end"


# Readers that do not read


def megabytes_of(product: LiveProduct) -> float:
    """What the web process holds in memory now."""
    return psutil.Process(product.processes["serve"].pid).memory_info().rss / 1e6


async def test_a_browser_that_never_listens_is_cut_off_and_costs_no_memory(
    world: World, people: Cast, server: LiveProduct, request: pytest.FixtureRequest
) -> None:
    """It asks for the same long answer again and again: megabytes, were they kept."""
    await script(world, "words:8000")
    cookie = await cookie_of(people.mate)
    line = await open_line(server.url, cookie)
    accepted = await line.ask("Count", mode="no_notes")
    await line.hear_type(*ENDS)
    await line.socket.close()
    headers = (f"Cookie: {cookie}", f"Origin: {server.url}")
    deaf = Deaf(server.url, "GET /ws/chat/", *headers, *UPGRADE)
    request.addfinalizer(deaf.socket.close)
    await asyncio.to_thread(deaf.upgraded)
    ids = {name: accepted[name] for name in ("conversation", "run")}
    before = megabytes_of(server)
    most, pause = before, 0.2
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        while True:
            await asyncio.to_thread(deaf.say, type="attach", after=0, **ids)
            await asyncio.sleep(pause)  # or the next one ends it before it is answered
            pause *= 1.3  # a busy server takes longer to say as much as it bears
            most = max(most, megabytes_of(server))
    assert most - before < 25, f"{most - before:.0f} MB for one reader"


async def test_a_script_that_stops_reading_is_cut_off_and_its_answer_is_written_to_its_end(
    world: World, people: Cast, server: LiveProduct, request: pytest.FixtureRequest
) -> None:
    """Seven megabytes of server-sent events, as JSON writes such characters; another reader
    has all of them."""
    await script(world, f"again:22000:{'🙂' * 9}")
    path = await messages_of("", people.mate)
    token = await bearer(people.mate)
    headers = [f"{name}: {value}" for name, value in token.items()]
    headers += ["Content-Type: application/json", f"Content-Length: {len(COUNT)}"]
    deaf = Deaf(server.url, f"POST {path}", *headers, body=COUNT)
    request.addfinalizer(deaf.socket.close)
    while (run := await Run.objects.afirst()) is None:
        await asyncio.sleep(0.02)
    url = f"{server.url}{path}/{run.message_id}/events"
    heard = await read_all(url, token)
    assert heard[-1]["type"] == "done"
    assert said_in(heard).split() == ["🙂" * 9] * 22_000
    size = sum(len(json.dumps(event)) for event in heard)
    assert await asyncio.to_thread(deaf.listen_to_the_end) < size - 1_000_000


# A killed process


# What each answer plays, and what is heard of it before the kill: by its point.
POINTS = {
    "done": "words:9",
    "silent after the sources": "pause:60|words:2",
    "thinking": "think:hm|pause:60|words:2",
    "first word": "words:1|pause:60|words:2",
    "a paragraph with its source": "cite|pause:60|words:2",
    "every word": "words:9|pause:60|think:hm",
    "a step waits": "tool:search:seal|cite",
    "a second step searches": "tool:search:seal|tool:search:oil|cite",
    "between two checkpoints": SLOW,
}


async def test_a_server_killed_at_ten_points_loses_a_second_at_most(
    world: World, people: Cast, servers: Pair
) -> None:
    """From just asked to every word said, and in steps; an answer that had ended stays."""
    await sync_to_async(write_note)(
        people.vault, "Pump.md", "The pump failed.", "The seal was worn.", "The oil was old."
    )
    models = {point: await script(world, play, label=point) for point, play in POINTS.items()}
    cookies = [await cookie_of(user) for user in (people.mate, people.owner)]
    lines: dict[str, tuple[Line, dict[str, Any]]] = {}

    async def begin(point: str, **fields: Any) -> Line:
        line = await open_line(servers[1].url, cookies[len(lines) % 2], ping_interval=None)
        model = models.get(point, models["between two checkpoints"])
        fields = {"mode": "notes_first", "tool_use": "ask", "model": model, **fields}
        lines[point] = line, await line.ask("Why did the pump fail?", **fields)
        assert lines[point][1]["type"] == "accepted", lines[point][1]
        return line

    for point in POINTS:
        await begin(point)
    await lines["done"][0].hear_type("done")
    await asyncio.gather(*(hear_up_to(point, *lines[point]) for point in POINTS))
    async with no_search_ends() as holder:
        line, accepted = lines["a second step searches"]
        await line.say(type="decide", run=accepted["run"], step=2, decision="allow")
        waiting = await wait_for_another_search(holder)
        await begin("searching")
        await wait_for_another_search(holder, waiting)
        await begin("just asked")
        servers[1].kill("serve")
        await asyncio.gather(*(drained(line) for line, _ in lines.values()))
    messages = {point: await check_end(world, point, *lines[point]) for point in lines}
    await check_what_was_kept(messages)
    await go_on_in_the_other_process(servers[0], messages, cookies, quick=models["done"])


async def hear_up_to(point: str, line: Line, accepted: dict[str, Any]) -> None:
    """Listen until the answer stands at its point."""
    if point.startswith("a step"):
        await line.hear_step(1, "asked")
    elif point.startswith("a second step"):
        await line.hear_step(1, "asked")
        await line.say(type="decide", run=accepted["run"], step=1, decision="allow")
        await line.hear_step(2, "asked")
    elif point.startswith("a paragraph"):
        await line.hear_type("block")
    elif point in {"first word", "every word", "between two checkpoints"}:
        await line.hear_words({"first word": 1}.get(point, 9))
    elif point == "thinking":
        await line.hear_stage("thinking")
    elif point.startswith("silent"):
        await line.hear_stage("writing")


async def drained(line: Line) -> None:
    """Take in what had arrived when the server died."""
    try:
        while True:
            await line.hear()
    except ConnectionClosed:
        return


async def check_end(world: World, point: str, line: Line, accepted: dict[str, Any]) -> Message:
    """Once its lease has run out it ends as interrupted, with all but the last second."""
    run = UUID(accepted["run"])
    await Run.objects.filter(pk=run).aupdate(lease_until=Now() - timedelta(seconds=1))
    events = [event async for event in world.runs.follow(run)]
    message = await Message.objects.aget(pk=accepted["message"])
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert events[0].type == "sources"
    assert line.text.startswith(message.text)
    if point == "done":
        assert (events[-1].type, message.status, message.text) == ("done", "done", line.text)
        return message
    assert (events[-1].type, events[-1].data["code"]) == ("error", "interrupted")
    assert message.status == "interrupted"
    lost = len(line.text.split()) - len(message.text.split())
    assert lost <= (1 + slowness() / 2) * WORDS_A_SECOND, "a second, and what a machine adds"
    return message


async def check_what_was_kept(messages: dict[str, Message]) -> None:
    """Sources, citations and finished steps; nothing is said to go on."""
    steps = {
        point: [step async for step in message.steps.all()] for point, message in messages.items()
    }
    states = {point: [step.state for step in each] for point, each in steps.items() if each}
    assert states == {
        "a step waits": ["interrupted"],
        "a second step searches": ["done", "interrupted"],
    }
    assert steps["a second step searches"][0].found
    assert await messages["a second step searches"].sources.acount() > 0
    assert messages["a paragraph with its source"].citations
    assert messages["first word"].text == "word1"


async def go_on_in_the_other_process(
    server: LiveProduct, messages: dict[str, Message], cookies: list[str], *, quick: int
) -> None:
    """What was interrupted is continued, or written anew, and ends."""
    again = {"a second step searches": "again", "searching": "again", "first word": "continue"}
    for point, how in again.items():
        before = messages[point]
        line = await open_line(server.url, cookies[list(messages).index(point) % 2])
        place = {"conversation": str(before.conversation_id), how: str(before.pk)}
        accepted = await line.ask("", model=quick, **place)
        assert (await line.hear_type(*ENDS))["type"] == "done", point
        await line.socket.close()
        after = await Message.objects.aget(pk=accepted["message"])
        assert (after.status, after.parent_id) == ("done", before.parent_id)
        assert after.text.startswith(before.text)


# One that is told to end


async def test_a_server_that_is_told_to_end_finishes_what_it_writes(
    world: World, people: Cast, server: LiveProduct
) -> None:
    await script(world, "pause:0.05|words:40")
    line = await open_line(server.url, await cookie_of(people.mate))
    await line.ask("Count", mode="no_notes")
    await line.hear_words(3)
    process = server.processes.pop("serve")
    process.send_signal(signal.SIGTERM)
    refused = {"type": "accepted"}
    while refused["type"] != "refused":  # the signal may arrive after the next question
        refused = await line.ask("And now?", mode="no_notes")
        await asyncio.sleep(0.05)
    assert refused["code"] == "restarting"
    assert refused["text"] == "The server is restarting. Ask again in a moment."
    with pytest.raises(ConnectionClosed) as closed:
        while True:
            await line.hear()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1012
    ends = [event["type"] for event in line.heard if event["type"] in ENDS]
    assert set(ends) == {"done"}
    assert await asyncio.to_thread(process.wait, 45) == 0
