"""The socket's twin: the same events over a POST."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient

from chat.models import Conversation
from tests.cast import Cast
from tests.chat.world import World
from vault.tokens import create_token

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


async def post(url: str, body: object, headers: dict[str, str]) -> Any:
    return await AsyncClient().post(
        url, json.dumps(body), content_type="application/json", headers=headers
    )


async def read(response: Any) -> list[dict[str, Any]]:
    """The events of a stream, and that each says its type and number twice alike."""
    assert response.status_code == 200, response.content
    text = "".join([chunk.decode() async for chunk in response.streaming_content])
    events = []
    for frame in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in frame.split("\n"))
        data = json.loads(lines["data"])
        assert lines["event"] == data["type"]
        assert lines["id"] == str(data["seq"])
        events.append(data)
    return events


async def bearer(user: User) -> dict[str, str]:
    return {"Authorization": f"Bearer {await sync_to_async(create_token)(user)}"}


async def test_a_script_asks_with_a_token_and_reads_the_answer(world: World, people: Cast) -> None:
    token = await bearer(people.mate)
    created = await post("/api/chat/conversations", {}, token)
    assert created.status_code == 201
    url = f"/api/chat/conversations/{created.json()['id']}/messages"
    events = await read(await post(url, {"text": "When did the pump fail?"}, token))
    assert events[0]["type"] == "sources"
    assert events[-1]["type"] == "done"
    assert "".join(e["text"] for e in events if e["type"] == "delta").startswith("The pump failed")
    conversation = await Conversation.objects.aget(pk=created.json()["id"])
    assert conversation.title == "When did the pump fail?"
