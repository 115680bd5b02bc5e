"""A browser's websocket to a real server, for tests that cut it, stall it or lose its server."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx2
from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.models import User
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from tests.chat.world import signed_in

ENDS = {"done", "stopped", "error"}


async def cookie_of(user: User) -> str:
    """The Cookie header of a browser in which `user` is signed in."""
    client = await sync_to_async(signed_in)(user)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


async def open_line(url: str, cookie: str, **options: Any) -> Line:
    """A websocket to the server at `url`, an http address."""
    socket = await connect(
        f"{url.replace('http', 'ws', 1)}/ws/chat/",
        additional_headers={"Cookie": cookie},
        origin=Origin(url),
        max_size=None,
        **options,
    )
    return Line(socket)


@dataclass
class Line:
    """One connection; `heard` holds the numbered events, in the order they came."""

    socket: ClientConnection
    heard: list[dict[str, Any]] = field(default_factory=list)

    async def say(self, **frame: Any) -> None:
        await self.socket.send(json.dumps(frame))

    async def hear(self) -> dict[str, Any]:
        frame: dict[str, Any] = json.loads(await self.socket.recv())
        if "seq" in frame:
            self.heard.append(frame)
        return frame

    async def hear_type(self, *kinds: str) -> dict[str, Any]:
        """The next frame of one of these types."""
        while (frame := await self.hear())["type"] not in kinds:
            pass
        return frame

    async def ask(self, text: str, **fields: Any) -> dict[str, Any]:
        """Ask, and give what the server accepted."""
        await self.say(type="ask", id="a", text=text, **fields)
        return await self.hear_type("accepted", "refused")

    async def attach(self, accepted: dict[str, Any], *, after: int) -> None:
        ids = {name: accepted[name] for name in ("conversation", "run")}
        await self.say(type="attach", after=after, **ids)

    async def hear_words(self, count: int) -> None:
        """Listen until this many words were said."""
        while len(self.text.split()) < count:
            await self.hear()

    async def hear_step(self, number: int, state: str) -> None:
        """Listen until a step of the model is in this state."""
        while (step := await self.hear_type("tool"))["number"] != number or step["state"] != state:
            pass

    async def hear_stage(self, stage: str) -> None:
        while (await self.hear_type("status"))["stage"] != stage:
            pass

    @property
    def text(self) -> str:
        return "".join(event["text"] for event in self.heard if event["type"] == "delta")


async def read_events(
    method: str, url: str, headers: dict[str, str], *, body: str = ""
) -> AsyncGenerator[dict[str, Any]]:
    """The events of a stream of server-sent ones."""
    async with (
        httpx2.AsyncClient(timeout=120) as client,
        client.stream(method, url, content=body, headers=headers) as response,
    ):
        assert response.status_code == 200
        frame = ""
        async for line in response.aiter_lines():
            if line:
                frame += f"{line}\n"
            elif frame:
                yield json.loads(frame.partition("data: ")[2])
                frame = ""


async def read_all(url: str, headers: dict[str, str]) -> list[dict[str, Any]]:
    """All events, as a client reads them: on a busy machine it may be cut off as slow, and
    goes on after the last it has."""
    heard: list[dict[str, Any]] = []
    while not heard or heard[-1]["type"] not in ENDS:
        after = {"Last-Event-ID": str(heard[-1]["seq"])} if heard else {}
        with suppress(httpx2.TransportError):
            async for event in read_events("GET", url, headers | after):
                heard.append(event)  # noqa: PERF401 -- what came before a cut is kept
    return heard


def said_in(events: list[dict[str, Any]]) -> str:
    return "".join(event["text"] for event in events if event["type"] == "delta")


UPGRADE = (
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
)


class Deaf:
    """A client that talks and does not listen, with next to no room for what is said to it."""

    def __init__(self, url: str, *head: str, body: str = "") -> None:
        """Send a request: its first line without the version, its headers, its body."""
        host = url.removeprefix("http://")
        name, port = host.split(":")
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(120)
        self.socket.connect((name, int(port)))
        lines = (f"{head[0]} HTTP/1.1", f"Host: {host}", *head[1:])
        self.socket.sendall("\r\n".join([*lines, "", body]).encode())

    def upgraded(self) -> Deaf:
        assert b"101" in self.socket.recv(40)
        return self

    def say(self, **frame: Any) -> None:
        """Send a websocket frame, masked with zeros."""
        text = json.dumps(frame).encode()
        head = bytes([0x81, 0x80 | 126]) + len(text).to_bytes(2, "big")
        self.socket.sendall(head + bytes(4) + text)

    def listen_to_the_end(self) -> int:
        """Listen at last, until the server ends it; how many bytes had been kept."""
        heard = 0
        try:
            while chunk := self.socket.recv(65_536):
                heard += len(chunk)
        except ConnectionResetError:
            return heard
        return heard
