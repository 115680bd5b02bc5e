"""A model server on loopback that replays scripts: good ones, and every bad kind."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

Step = bytes | float | Literal["hang", "cut"]
"""Bytes to send, seconds to wait, to wait until the client goes, or to break the line."""


MUTE = 0
"""The status of a reply that never begins."""


@dataclass
class Reply:
    """One scripted reply. Without a length the body ends where the connection does."""

    steps: list[Step] = field(default_factory=list)
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})


@dataclass
class Received:
    """One request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


def json_reply(document: Any, *, status: int = 200, **headers: str) -> Reply:
    return Reply(
        [json.dumps(document).encode()], status, {"content-type": "application/json", **headers}
    )


class ModelServer:
    """Answers each request with the next reply; the last one is used for ever."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = deque(replies)
        self.received: list[Received] = []
        self.client_left = asyncio.Event()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.received.append(await _read_request(reader))
            reply = self.replies.popleft() if len(self.replies) > 1 else self.replies[0]
            await self._play(reply, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.client_left.set()
        finally:
            writer.close()

    async def _play(
        self, reply: Reply, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if reply.status != MUTE:
            writer.write(_head(reply))
        for step in reply.steps:
            if step == "cut":
                writer.transport.abort()
                return
            if step == "hang":
                await writer.drain()
                await reader.read()
                self.client_left.set()
                return
            if isinstance(step, float):
                await asyncio.sleep(step)
            else:
                assert isinstance(step, bytes)
                writer.write(step)
                await writer.drain()


@asynccontextmanager
async def serving(*replies: Reply) -> AsyncIterator[ModelServer]:
    """A running server; it is gone, with every connection, at the end of the block."""
    model_server = ModelServer(*replies)
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(model_server.handle(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listener = await asyncio.start_server(accept, "127.0.0.1", 0)
    model_server.port = listener.sockets[0].getsockname()[1]
    try:
        yield model_server
    finally:
        listener.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _head(reply: Reply) -> bytes:
    lines = [f"HTTP/1.1 {reply.status} Scripted", "connection: close"]
    lines += [f"{name}: {value}" for name, value in reply.headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


async def _read_request(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, json.loads(body) if body else None)


@contextmanager
def serving_in_a_thread(*replies: Reply) -> Iterator[ModelServer]:
    """The same for code that is not async: the server has an event loop of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    block = serving(*replies)
    try:
        yield asyncio.run_coroutine_threadsafe(block.__aenter__(), loop).result(10)
    finally:
        asyncio.run_coroutine_threadsafe(block.__aexit__(None, None, None), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()
