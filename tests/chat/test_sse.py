"""The socket's twin: the same events over a POST."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.models import User
from django.test import AsyncClient

from chat.models import Conversation, Message, Run
from providers.core.types import TextDelta, Usage
from providers.testing import FakeChat
from tests.cast import Cast
from tests.chat.world import World, signed_in
from vault.tokens import create_token

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]

LIST = "/api/chat/conversations"


async def post(url: str, body: object, headers: dict[str, str]) -> Any:
    return await AsyncClient().post(
        url, json.dumps(body), content_type="application/json", headers=headers
    )


def parse(frame: str) -> dict[str, Any]:
    """One event; it says its type and number twice, alike."""
    lines = dict(line.split(": ", 1) for line in frame.strip().split("\n"))
    data: dict[str, Any] = json.loads(lines["data"])
    assert lines["event"] == data["type"]
    assert lines.get("id") == (str(data["seq"]) if "seq" in data else None)
    return data


async def read(response: Any) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.content
    assert response["Content-Type"] == "text/event-stream"
    return [parse(chunk.decode()) async for chunk in response.streaming_content]


async def bearer(user: User) -> dict[str, str]:
    return {"Authorization": f"Bearer {await sync_to_async(create_token)(user)}"}


async def begin(user: User, **fields: Any) -> str:
    conversation = await Conversation.objects.acreate(owner=user, **fields)
    return f"{LIST}/{conversation.pk}/messages"


async def test_a_script_asks_with_a_token_and_reads_the_answer(world: World, people: Cast) -> None:
    token = await bearer(people.mate)
    created = await post(LIST, {}, token)
    assert created.status_code == 201
    url = f"{LIST}/{created.json()['id']}/messages"
    events = await read(await post(url, {"text": "When did the pump fail?"}, token))
    assert events[0]["type"] == "sources"
    assert events[-1]["type"] == "done"
    assert "".join(e["text"] for e in events if e["type"] == "delta").startswith("The pump failed")
    conversation = await Conversation.objects.aget(pk=created.json()["id"])
    assert conversation.title == "When did the pump fail?"


async def test_it_says_what_the_socket_says(world: World, people: Cast) -> None:
    going_on = asyncio.Event()
    FakeChat.play(TextDelta("One [1]. "), going_on, TextDelta("Two."), Usage(3, 4))
    socket = await world.socket(people.mate)
    await socket.say(type="ask", text="When did the pump fail?")
    accepted = await socket.hear()
    token = await bearer(people.mate)
    url = f"{LIST}/{accepted['conversation']}/messages/{accepted['message']}/events"
    response: Any = await AsyncClient().get(url, headers=token)
    chunks = aiter(response.streaming_content)
    streamed = [parse((await anext(chunks)).decode())]
    going_on.set()
    streamed += [parse(chunk.decode()) async for chunk in chunks]
    assert streamed == await socket.hear_to_the_end()
    later = await AsyncClient().get(url, {"after": streamed[1]["seq"]}, headers=token)
    assert await read(later) == streamed[2:]
    resumed = await AsyncClient().get(
        url, headers={**token, "Last-Event-ID": str(streamed[-2]["seq"])}
    )
    assert await read(resumed) == streamed[-1:]
    await socket.disconnect()


async def test_a_script_that_leaves_does_not_stop_the_answer(world: World, people: Cast) -> None:
    going_on = asyncio.Event()
    FakeChat.play(TextDelta("One. "), going_on, TextDelta("Two."), Usage())
    url, token = await begin(people.mate), await bearer(people.mate)
    response = await post(url, {"text": "When?"}, token)
    first = parse((await anext(aiter(response.streaming_content))).decode())
    await response.streaming_content.aclose()
    going_on.set()
    events = await read(await AsyncClient().get(f"{url}/{first['message']}/events", headers=token))
    assert "".join(e["text"] for e in events if e["type"] == "delta") == "One. Two."


async def test_stop_over_rest(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("One. "), asyncio.Event())
    url, token = await begin(people.mate), await bearer(people.mate)
    response = await post(url, {"text": "When?"}, token)
    events = []
    async for chunk in response.streaming_content:
        events.append(parse(chunk.decode()))
        if events[-1]["type"] == "delta":
            stopped = await post(f"{url}/{events[-1]['message']}/stop", {}, token)
            assert stopped.status_code == 202
    assert events[-1]["type"] == "stopped"


async def test_a_second_question_meanwhile_is_a_conflict(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("One. "), asyncio.Event())
    url, token = await begin(people.mate), await bearer(people.mate)
    await post(url, {"text": "When?"}, token)
    second = await post(url, {"text": "And why?"}, token)
    assert second.status_code == 409
    assert second.json()["code"] == "run_active"


async def test_a_session_needs_a_csrf_token_and_a_token_does_not(
    world: World, people: Cast
) -> None:
    url = await begin(people.mate)
    session = (await sync_to_async(signed_in)(people.mate)).cookies
    client = AsyncClient(enforce_csrf_checks=True)
    client.cookies = session
    body = json.dumps({"text": "When?"})
    refused = await client.post(url, body, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "csrf")
    client.cookies["csrftoken"] = "a" * 32
    allowed = await client.post(
        url, body, content_type="application/json", headers={"X-CSRFToken": "a" * 32}
    )
    assert (await read(allowed))[-1]["type"] == "done"
    assert settings.CSRF_COOKIE_NAME == "csrftoken"


async def test_a_withdrawn_right_ends_the_stream(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("One. "), asyncio.Event())
    url, token = await begin(people.mate), await bearer(people.mate)
    response = await post(url, {"text": "When?"}, token)
    events = []
    async for chunk in response.streaming_content:
        events.append(parse(chunk.decode()))
        if events[-1]["type"] == "delta":
            people.mate.is_active = False
            await people.mate.asave()
    assert events[-1].get("code") in {4401, "suspended"}


async def test_missing_and_foreign_look_the_same(world: World, people: Cast) -> None:
    url, token = await begin(people.mate), await bearer(people.owner)
    missing = f"{LIST}/{uuid4()}/messages"
    bodies = set()
    for place in (url, missing):
        for response in (
            await post(place, {"text": "Hi"}, token),
            await AsyncClient().get(f"{place}/{uuid4()}/events", headers=token),
            await post(f"{place}/{uuid4()}/stop", {}, token),
        ):
            assert response.status_code == 404
            bodies.add(response.content)
    assert len({json.dumps(json.loads(body), sort_keys=True) for body in bodies}) == 1
    assert not await Run.objects.aexists()
    assert not FakeChat.requests


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (b"{", 400, "not JSON"),
        (b"[]", 400, "must be a JSON object"),
        (b"{}", 400, "must be the question"),
        (b'{"text": 5}', 400, "must be the question"),
        (b'{"text": "x", "again": "y"}', 400, "must be a UUID"),
        (b'{"text": "' + b"x" * 20_001 + b'"}', 400, "20,001 characters"),
        (b" " * 100_001, 413, "at most 100,000 bytes"),
    ],
)
async def test_a_bad_body_is_refused_with_the_reason(
    body: bytes, status: int, reason: str, world: World, people: Cast
) -> None:
    url, token = await begin(people.mate), await bearer(people.mate)
    response = await AsyncClient().post(url, body, content_type="application/json", headers=token)
    assert response.status_code == status
    assert reason in response.json()["detail"]
    assert not await Message.objects.aexists()


async def test_strangers_and_bad_tokens_are_asked_to_sign_in(world: World, people: Cast) -> None:
    url = await begin(people.mate)
    for headers in ({}, {"Authorization": "Bearer nonsense"}):
        for response in (
            await post(url, {"text": "Hi"}, headers),
            await AsyncClient().get(f"{url}/{uuid4()}/events", headers=headers),
        ):
            assert response.status_code == 401
            assert response["WWW-Authenticate"] == "Bearer"


async def test_other_methods_and_bad_numbers_are_refused(world: World, people: Cast) -> None:
    url, token = await begin(people.mate), await bearer(people.mate)
    assert (await AsyncClient().get(url, headers=token)).status_code == 405
    assert (await post(f"{url}/{uuid4()}/events", {}, token)).status_code == 405
    bad = await AsyncClient().get(f"{url}/{uuid4()}/events", {"after": "-1"}, headers=token)
    assert bad.status_code == 400


async def test_owner_and_conversation_in_the_body_are_refused_by_name(
    world: World, people: Cast
) -> None:
    url, token = await begin(people.mate), await bearer(people.mate)
    foreign = await Conversation.objects.acreate(owner=people.owner)
    body = {"conversation": str(foreign.pk), "user": people.owner.pk}
    for key in ("conversation", "user"):
        refused = await post(url, {"text": "When?", key: body[key]}, token)
        assert refused.status_code == 400
        assert f"“{key}” is not known here." in json.loads(refused.content)["detail"]
    assert not await Message.objects.aexists()
