"""Readers that do not read: their connections end before what waits for them fills memory.

Daphne takes whatever a stream says and keeps it until the reader's network takes it: there
is no end to that and nothing tells the stream. So the server looks itself.
"""

from __future__ import annotations

import asyncio
from typing import Any

import structlog
from daphne.server import Server
from daphne.ws_protocol import WebSocketProtocol

log = structlog.get_logger(__name__)

# Bytes that may wait for one reader of a stream, beside what the kernel takes. A reader who
# is cut off attaches again and misses nothing.
MOST_WAITING = 1_000_000
LOOK_EVERY = 0.5


async def end_slow_readers(server: Server, *, every: float = LOOK_EVERY) -> None:
    """For as long as the server runs, cut off streams that nobody reads."""
    while True:
        await asyncio.sleep(every)
        for protocol in list(server.connections):
            transport = _transport_of_stream(protocol)
            if transport is not None and waiting_bytes(transport) > MOST_WAITING:
                log.warning("slow_reader_cut_off", kind=type(protocol).__name__)
                transport.abortConnection()


def waiting_bytes(transport: Any) -> int:
    """What a transport of Twisted has taken and not yet given to the kernel."""
    return len(transport.dataBuffer) - int(transport.offset) + int(transport._tempDataLen)


def _transport_of_stream(protocol: Any) -> Any:
    """The transport of a websocket or of server-sent events.

    None for everything else: a page or a file has an end, and may wait for a slow line.
    """
    if isinstance(protocol, WebSocketProtocol):
        return protocol.transport
    kinds = protocol.responseHeaders.getRawHeaders("content-type") or [""]
    # A request that has ended stays among the connections for a while, without a channel.
    channel: Any = getattr(protocol, "channel", None)
    is_stream = kinds[0].startswith("text/event-stream") and channel is not None
    return channel.transport if is_stream else None
