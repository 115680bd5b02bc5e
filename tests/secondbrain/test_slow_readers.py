"""Who does not read is cut off, whatever else is connected."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from twisted.web.http_headers import Headers

from secondbrain.slow_readers import MOST_WAITING, end_slow_readers


class Line:
    """A transport of Twisted with so many bytes that nobody takes."""

    def __init__(self, waiting: int) -> None:
        self.dataBuffer = b"x" * (waiting // 2)
        self.offset = 0
        self._tempDataLen = waiting - waiting // 2
        self.cut = asyncio.Event()

    def abortConnection(self) -> None:  # noqa: N802
        self.cut.set()


def response(kind: str, **fields: Any) -> Any:
    return SimpleNamespace(responseHeaders=Headers({"Content-Type": [kind]}), **fields)


def stream(line: Line) -> Any:
    return response("text/event-stream; charset=utf-8", channel=SimpleNamespace(transport=line))


@pytest.mark.asyncio
async def test_only_streams_that_nobody_reads_are_cut_off() -> None:
    slow, quick, page = Line(MOST_WAITING + 1), Line(MOST_WAITING), Line(9 * MOST_WAITING)
    ended = [response("text/event-stream"), response("text/event-stream", channel=None)]
    plain = response("text/html", channel=SimpleNamespace(transport=page))
    server = SimpleNamespace(connections=[*ended, stream(quick), plain, stream(slow)])
    looking = asyncio.create_task(end_slow_readers(server, every=0.001))
    async with asyncio.timeout(5):
        await slow.cut.wait()
    assert not (quick.cut.is_set() or page.cut.is_set() or looking.done())
    looking.cancel()
