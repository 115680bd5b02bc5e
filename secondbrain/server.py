"""The web process: daphne, with an end that loses nothing."""

from __future__ import annotations

import asyncio
import signal

import structlog
from daphne.endpoints import build_endpoint_description_strings
from daphne.server import Server
from daphne.ws_protocol import WebSocketProtocol
from django.conf import settings
from django.utils.module_loading import import_string

from secondbrain.long_requests import AnsweringChannel
from secondbrain.slow_readers import end_slow_readers

log = structlog.get_logger(__name__)

# Seconds that running answers get to finish after SIGTERM. Daphne alone ends in 0.4 s,
# without a close frame and without waiting for anything.
DRAIN_LIMIT = 30.0
# Seconds for close frames to leave before the process does.
CLOSE_PAUSE = 0.3
# RFC 6455 registry: the client should come back, somewhere else if it can.
SERVICE_RESTART = 1012


def serve(*, host: str, port: int) -> None:
    """Serve until SIGTERM or SIGINT, then drain and return."""
    server: Server = Server(
        application=import_string(settings.ASGI_APPLICATION),
        endpoints=build_endpoint_description_strings(host=host, port=port),
        signal_handlers=False,
        http_timeout=None,
        websocket_timeout=-1,
        ping_interval=20,
        ping_timeout=30,
        websocket_max_message_size=256 * 1024,
        websocket_max_frame_size=256 * 1024,
        ready_callable=lambda: _begin(server),
    )
    server.run()
    if not server.listening_addresses:
        raise SystemExit(1)


def _begin(server: Server) -> None:
    """What runs beside the connections: the look after slow readers, and the end."""
    server.http_factory.protocol = AnsweringChannel
    loop = asyncio.get_event_loop()
    looking = loop.create_task(end_slow_readers(server))
    ending: list[asyncio.Task[None]] = []

    def begin() -> None:
        if not ending:
            looking.cancel()
            ending.append(loop.create_task(_end(server)))

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, begin)


async def _end(server: Server) -> None:
    """Take no new connections, let answers finish, say goodbye, stop."""
    log.info("stopping", drain_limit=DRAIN_LIMIT)
    for listening in server.listeners:
        listening.addCallback(lambda port: port.stopListening())
    try:
        if "chat" in settings.MODULES:
            runs = import_string("chat.runs.runs_here")()
            await runs.drain(DRAIN_LIMIT)
        _close_sockets(server)
        await asyncio.sleep(CLOSE_PAUSE)
    finally:
        server.stop()


def _close_sockets(server: Server) -> None:
    for protocol in list(server.connections):
        if isinstance(protocol, WebSocketProtocol):
            # autobahn's sendClose, which serverClose calls, takes no code of the standard's own.
            protocol.sendCloseFrame(code=SERVICE_RESTART, isReply=False)
