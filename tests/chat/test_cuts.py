"""What an answer survives: cut lines, a killed server, one that restarts."""

from __future__ import annotations

import asyncio
import json
import random
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
import pytest
from asgiref.sync import sync_to_async
from django.db.models.functions import Now
from websockets.exceptions import ConnectionClosed

from chat.core.asking import Ask
from chat.models import Message, Run
from tests.cast import Cast
from tests.chat.line import ENDS, Line, cookie_of, open_line
from tests.chat.world import World, caller, make_model
from tests.live import LiveProduct

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.asyncio,
    pytest.mark.slow,
    pytest.mark.xdist_group("processes"),
]
WORDS_A_SECOND = 20


@pytest.fixture(scope="module")
def servers(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[LiveProduct, LiveProduct]]:
    """Two web processes on one database. Whoever ends one starts it again."""
    with django_db_blocker.unblock(), ExitStack() as ends:
        pair = tuple(LiveProduct(Path(tmp_path_factory.mktemp("log"))) for _ in range(2))
        for product in pair:
            ends.callback(product.stop)
            product.start("serve")
        yield pair[0], pair[1]


async def script(world: World, name: str) -> None:
    """Let the fake model of the servers play `name`."""
    await sync_to_async(world.model.delete)()
    world.model = await sync_to_async(make_model)(name)


async def listen_with_cuts(
    servers: tuple[LiveProduct, LiveProduct],
    cookie: str,
    accepted: dict[str, Any],
    chance: random.Random,
    cuts: int,
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
    world: World, people: Cast, servers: tuple[LiveProduct, LiveProduct]
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


async def test_a_server_killed_at_ten_points_loses_a_second_at_most(
    world: World, people: Cast, servers: tuple[LiveProduct, LiveProduct]
) -> None:
    """Ten answers at ten points: just asked, silent, thinking, and at any moment between two
    checkpoints. One that had ended stays as it was."""
    await script(world, "pause:0.05|words:400")
    other = {
        "silent": await sync_to_async(make_model)("pause:60|words:2", label="Silent"),
        "thinking": await sync_to_async(make_model)("think:hm|pause:60|words:2", label="Thinking"),
        "ended": await sync_to_async(make_model)("words:9", label="Ended"),
    }
    cookies = [await cookie_of(user) for user in (people.mate, people.owner)]
    chance = random.Random(5)
    lines: list[tuple[Line, dict[str, Any]]] = []
    async with AsyncExitStack() as ends:
        for number in range(11):
            line = await open_line(servers[1].url, cookies[number % 2], ping_interval=None)
            ends.push_async_callback(line.socket.close)
            kind = {0: "ended", 1: "silent", 2: "thinking"}.get(number)
            model = other[kind].pk if kind else None
            lines.append((line, await line.ask("Count", mode="no_notes", model=model)))
            if kind == "ended":
                await line.hear_type("done")
            await asyncio.sleep(chance.uniform(0.05, 0.35))
        await asyncio.gather(*(line.hear_words(8) for line, _ in lines[3:10]))
        servers[1].kill("serve")
        await asyncio.gather(*(drained(line) for line, _ in lines))
    servers[1].start("serve")
    for line, accepted in lines[1:]:
        await check_interrupted(world, line, accepted)
    ended = await Message.objects.aget(pk=lines[0][1]["message"])
    assert (ended.status, ended.text) == ("done", lines[0][0].text)
    asked, quick = lines[4][1], other["ended"].pk
    again = Ask(conversation=UUID(asked["conversation"]), again=UUID(asked["message"]), model=quick)
    turn = await world.runs.start(again, caller=await sync_to_async(caller)(people.mate))
    events = [event async for event in world.runs.follow(turn.ids.run)]
    assert events[-1].type == "done"


async def drained(line: Line) -> None:
    """Take in what had arrived when the server died."""
    try:
        while True:
            await line.hear()
    except ConnectionClosed:
        return


async def check_interrupted(world: World, line: Line, accepted: dict[str, Any]) -> None:
    """Its lease has run out: it ends as interrupted, with all but the last second."""
    run = UUID(accepted["run"])
    await Run.objects.filter(pk=run).aupdate(lease_until=Now() - timedelta(seconds=1))
    events = [event async for event in world.runs.follow(run)]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert events[0].type == "sources"
    assert (events[-1].type, events[-1].data["code"]) == ("error", "interrupted")
    message = await Message.objects.aget(pk=accepted["message"])
    assert message.status == "interrupted"
    assert line.text.startswith(message.text)
    lost = len(line.text.split()) - len(message.text.split())
    assert lost <= 1.5 * WORDS_A_SECOND, "a second, and half of one for a busy machine"


async def test_a_server_that_is_told_to_end_finishes_what_it_writes(
    world: World, people: Cast, servers: tuple[LiveProduct, LiveProduct]
) -> None:
    await script(world, "pause:0.05|words:40")
    line = await open_line(servers[1].url, await cookie_of(people.mate))
    await line.ask("Count", mode="no_notes")
    await line.hear_words(3)
    process = servers[1].processes.pop("serve")
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
    servers[1].start("serve")


class Deaf:
    """A browser that talks and never listens, with next to no room for what is said to it."""

    def __init__(self, url: str, cookie: str, path: str, *headers: str) -> None:
        host = url.removeprefix("http://")
        name, port = host.split(":")
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(20)
        self.socket.connect((name, int(port)))
        lines = (f"GET {path} HTTP/1.1", f"Host: {host}", f"Cookie: {cookie}", *headers)
        self.socket.sendall("\r\n".join([*lines, "", ""]).encode())

    def upgraded(self) -> Deaf:
        assert b"101" in self.socket.recv(40)
        return self

    def say(self, **frame: Any) -> None:
        """Send a websocket frame, masked with zeros."""
        text = json.dumps(frame).encode()
        head = bytes([0x81, 0x80 | 126]) + len(text).to_bytes(2, "big")
        self.socket.sendall(head + bytes(4) + text)


UPGRADE = (
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)


def megabytes_of(product: LiveProduct) -> float:
    """What the web process holds in memory now."""
    return psutil.Process(product.processes["serve"].pid).memory_info().rss / 1e6


async def test_a_browser_that_never_listens_is_cut_off_and_costs_no_memory(
    world: World,
    people: Cast,
    servers: tuple[LiveProduct, LiveProduct],
    request: pytest.FixtureRequest,
) -> None:
    """It asks for the same long answer again and again: fifty megabytes, were they kept."""
    await script(world, "words:8000")
    cookie = await cookie_of(people.mate)
    line = await open_line(servers[0].url, cookie)
    accepted = await line.ask("Count", mode="no_notes")
    await line.hear_type(*ENDS)
    size = sum(len(json.dumps(event)) for event in line.heard)
    await line.socket.close()
    deaf = Deaf(servers[0].url, cookie, "/ws/chat/", *UPGRADE, f"Origin: {servers[0].url}")
    request.addfinalizer(deaf.socket.close)
    await asyncio.to_thread(deaf.upgraded)
    ids = {name: accepted[name] for name in ("conversation", "run")}
    before = megabytes_of(servers[0])
    most = before
    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        for _ in range(50_000_000 // size):
            await asyncio.to_thread(deaf.say, type="attach", after=0, **ids)
            await asyncio.sleep(0.05)
            most = max(most, megabytes_of(servers[0]))
    assert most - before < 25, f"{most - before:.0f} MB for one reader"
