"""A browser's websocket to a real server, for tests that cut it, stall it or lose its server."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

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

    @property
    def text(self) -> str:
        return "".join(event["text"] for event in self.heard if event["type"] == "delta")
