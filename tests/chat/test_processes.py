"""Runs of a real server process: stopped from another process, and killed in mid-answer."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx2
import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.db.models.functions import Now
from openai import AsyncOpenAI

from chat.models import Conversation, Message, Run
from tests.cast import Cast
from tests.chat.test_sse import bearer, parse
from tests.chat.world import World, caller, make_model
from tests.live import child_environment, free_port

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.asyncio,
    pytest.mark.slow,
    pytest.mark.xdist_group("processes"),
]
# 20 words a second for twenty seconds.
SLOW_MODEL = "pause:0.05|words:400"


@pytest.fixture
def server(people: Cast) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A web process of its own on the test database, and its address."""
    port = free_port()
    daphne = [sys.executable, "-m", "daphne", "-b", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(
        [*daphne, "secondbrain.asgi:application"],
        env=child_environment(),
        cwd=settings.BASE_DIR,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


async def wait_until_up(address: str) -> None:
    async with httpx2.AsyncClient() as client:
        for _ in range(300):
            try:
                await client.get(f"{address}/healthz")
            except httpx2.TransportError:
                await asyncio.sleep(0.1)
            else:
                return
    raise AssertionError("the server did not start")


async def ask(address: str, people: Cast, *, words: int) -> tuple[list[dict[str, Any]], Any]:
    """Ask over HTTP; events until `words` words were heard, and the rest of the stream."""
    conversation = await Conversation.objects.acreate(owner=people.mate)
    url = f"{address}/api/chat/conversations/{conversation.pk}/messages"
    stream = read(url, await bearer(people.mate))
    events: list[dict[str, Any]] = []
    async for event in stream:
        events.append(event)
        if len(text_of(events).split()) >= words:
            return events, stream
    raise AssertionError(f"the answer ended early: {events[-1]}")


async def read(url: str, headers: dict[str, str]) -> AsyncIterator[dict[str, Any]]:
    body = {"text": "Count", "mode": "no_notes"}
    async with (
        httpx2.AsyncClient(timeout=30) as client,
        client.stream("POST", url, content=json.dumps(body), headers=headers) as response,
    ):
        assert response.status_code == 200
        frame = ""
        async for line in response.aiter_lines():
            if line:
                frame += f"{line}\n"
            elif frame:
                yield parse(frame)
                frame = ""


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(event["text"] for event in events if event["type"] == "delta")


async def test_a_run_of_another_process_is_followed_and_stopped_by_word_or_by_leaving(
    world: World, people: Cast, server: tuple[subprocess.Popen[bytes], str]
) -> None:
    await use_slow_model(world)
    await wait_until_up(server[1])
    there, stream = await ask(server[1], people, words=10)
    run = UUID(there[0]["run"])
    here = []
    async with aclosing(world.runs.follow(run)) as events:
        async for event in events:
            here.append(event)
            if len(here) == len(there):
                await world.runs.stop(run, caller=await sync_to_async(caller)(people.mate))
    there += [event async for event in stream]
    assert here[-1].type == there[-1]["type"] == "stopped"
    assert [event.seq for event in here] == [event["seq"] for event in there]
    assert (await Message.objects.aget(pk=there[0]["message"])).status == "stopped"
    await leave_a_stream_of_openais_client(server[1], people, world)


async def leave_a_stream_of_openais_client(address: str, people: Cast, world: World) -> None:
    """A client of OpenAI's form that hangs up ends the answer, as it does with OpenAI."""
    token = (await bearer(people.mate))["Authorization"].removeprefix("Bearer ")
    async with AsyncOpenAI(api_key=token, base_url=f"{address}/v1", max_retries=0) as client:
        stream = await client.chat.completions.create(
            model=f"fake/{SLOW_MODEL}", messages=[{"role": "user", "content": "?"}], stream=True
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


async def test_a_killed_process_leaves_an_interrupted_answer_with_its_text(
    world: World, people: Cast, server: tuple[subprocess.Popen[bytes], str]
) -> None:
    await use_slow_model(world)
    await wait_until_up(server[1])
    heard, stream = await ask(server[1], people, words=60)
    server[0].send_signal(signal.SIGKILL)
    server[0].wait()
    await stream.aclose()
    run = UUID(heard[0]["run"])
    assert await Run.objects.filter(pk=run, state="active", lease_until__gt=Now()).aexists()
    await Run.objects.filter(pk=run).aupdate(lease_until=Now() - timedelta(seconds=1))
    events = [event async for event in world.runs.follow(run)]
    assert events[-1].data["code"] == "interrupted"
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    message = await Message.objects.aget(pk=heard[0]["message"])
    assert message.status == "interrupted"
    assert text_of(heard).startswith(message.text)
    lost = len(text_of(heard).split()) - len(message.text.split())
    assert lost <= 30, "what was written in a second, and some for a busy machine"
    assert len(message.text.split()) >= 30


async def use_slow_model(world: World) -> None:
    await sync_to_async(world.model.delete)()
    await sync_to_async(make_model)(SLOW_MODEL)
