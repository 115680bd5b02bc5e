"""Agents at the door: the SDK's own client over loopback, and over standard input."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from asgiref.sync import async_to_sync
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from providers.presets import load_presets
from tests.cast import Cast, make_cast
from tests.live import ROOT, LiveProduct, child_environment
from tests.retrieval.library import write_markdown
from vault.models import ApiToken
from vault.tokens import create_token

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
]

NOTE = "# Heron\n\nHerons stand still.\n\n## Names\n\nThe grey heron is called Ottokar.\n"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
HEADERS = {"Accept": "application/json, text/event-stream"}


@dataclass(frozen=True)
class Door:
    """The product at work on the pond, and the owner's token for it."""

    product: LiveProduct
    token: str

    @property
    def url(self) -> str:
        return f"{self.product.url}/mcp"

    def post(self, **headers: str) -> httpx2.Response:
        return httpx2.post(self.url, json=PING, headers={**HEADERS, **headers}, timeout=60)


@pytest.fixture
def pond(transactional_db: None) -> Cast:
    load_presets()
    cast = make_cast()
    write_markdown(cast.vault, "Birds/Heron.md", NOTE)
    write_markdown(cast.foreign_vault, "Secret.md", "# Secret\n\nA heron of others.\n")
    return cast


@pytest.fixture
def http_door(pond: Cast, tmp_path: Path) -> Iterator[Door]:
    product = LiveProduct(tmp_path)
    product.start("serve")
    yield Door(product, create_token(pond.owner))
    product.stop()


def said(result: Any) -> dict[str, Any]:
    reply: dict[str, Any] = json.loads(result.content[0].text)
    return reply


async def use(client: Client) -> dict[str, Any]:
    """What an agent does: look at the tools, search, follow the pointer, miss, ask."""
    async with client:
        listed = await client.list_tools()
        found = said(await client.call_tool("search", {"query": "what is the heron called"}))
        pointer = found["results"][0]["section"]
        section = await client.call_tool("get_section", {"section": pointer})
        missed = await client.call_tool(
            "get_section", {"section": pointer.split("@")[0] + "#Nowhere"}
        )
        answer = await client.call_tool("ask", {"question": "What is the grey heron called?"})
    return {
        "tools": [tool.name for tool in listed.tools],
        "found": found,
        "section": said(section),
        "missed": (missed.is_error, said(missed)),
        "answer": (answer.is_error, said(answer)),
    }


def check(told: dict[str, Any]) -> None:
    assert told["tools"] == ["search", "get_section", "similar_notes", "ask"]
    assert "others" not in json.dumps(told["found"])
    assert told["section"]["text"] == "## Names\n\nThe grey heron is called Ottokar."
    assert told["section"]["tokens"] > 0
    failed, reply = told["missed"]
    assert failed
    assert [each.split("#")[1] for each in reply["sections"]] == ["Heron", "Heron > Names"]
    assert "Ottokar" not in json.dumps(reply)
    failed, reply = told["answer"]
    assert not failed, reply
    assert "Ottokar" in reply["answer"]
    assert reply["sources"][0]["breadcrumb"].startswith("team > Birds/Heron.md")
    assert reply["sources"][0]["date"] == told["found"]["results"][0]["date"]
    assert reply["searched"] == ["team"]
    assert reply["queries"] == ["What is the grey heron called?"]


def test_an_agent_searches_reads_a_section_and_asks_over_http(pond: Cast, http_door: Door) -> None:
    async def over_http() -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {http_door.token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            return await use(Client(streamable_http_client(http_door.url, http_client=http)))

    check(async_to_sync(over_http)())
    door = f"Bearer {http_door.token}"
    assert http_door.post().status_code == 401
    assert http_door.post(Authorization="Bearer sb_wrong").status_code == 401
    assert http_door.post(Authorization=door).status_code == 200
    assert http_door.post(Authorization=door, Origin=http_door.product.url).status_code == 200
    assert http_door.post(Authorization=door, Origin="https://evil.example").status_code == 403
    assert http_door.post(Authorization=door, Host="evil.example").status_code == 400
    pond.owner.is_active = False
    pond.owner.save()
    assert http_door.post(Authorization=door).status_code == 401


def test_an_agent_on_this_machine_uses_the_command(pond: Cast) -> None:
    before = set(ApiToken.objects.values_list("pk", flat=True))
    command = StdioServerParameters(
        command=sys.executable,
        args=["-W", "ignore", str(ROOT / "manage.py"), "mcp", "--user", pond.owner.email],
        env=child_environment(LOG_LEVEL="ERROR"),
        cwd=ROOT,
    )
    check(async_to_sync(use)(Client(command)))
    assert set(ApiToken.objects.values_list("pk", flat=True)) == before
