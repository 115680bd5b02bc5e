"""`/mcp`: agents over HTTP, by personal token. Stateless: every request stands alone."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.conf import settings
from django.db import connections
from django.http.request import split_domain_port, validate_host

from secondbrain.mcp_tools import Agent
from vault.tokens import find_token

PATH = "/mcp"
# A call is a few names and a question.
LARGEST_BODY = 100_000

Asgi = Callable[[Any, Any, Any], Awaitable[None]]


def with_mcp(http: Asgi) -> Asgi:
    """`http`, with `/mcp` in front of it."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and scope["path"].rstrip("/") == PATH:
            async with ThreadSensitiveContext():
                try:
                    await _answer(scope, receive, send)
                finally:
                    await sync_to_async(connections.close_all)()
        else:
            await http(scope, receive, send)

    return application


async def _answer(scope: Any, receive: Any, send: Any) -> None:
    headers = {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
    }
    host, origin = headers.get("host", ""), headers.get("origin", "")
    if not _is_our_host(host):
        await _refuse(send, 400, "This host is not served here: see ALLOWED_HOSTS.")
        return
    if origin and not _is_our_origin(origin):
        await _refuse(send, 403, "Pages of this origin may not call: see ALLOWED_ORIGINS.")
        return
    agent = await sync_to_async(_agent)(headers.get("authorization", ""))
    if agent is None:
        await _refuse(send, 401, "Send a valid personal token: Authorization: Bearer …")
        return
    await _serve(agent, scope, receive, send, host=host, origin=origin)


async def _serve(
    agent: Agent, scope: Any, receive: Any, send: Any, *, host: str, origin: str
) -> None:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.server.transport_security import TransportSecuritySettings

    from secondbrain.mcp_server import server_for

    # The host and origin were checked by the rules of the other pages; the SDK's own check
    # stays on and lets exactly them through.
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[host],
        allowed_origins=[origin] if origin else [],
    )
    # Daphne has no lifespan to keep a manager in, and without sessions none is needed.
    manager = StreamableHTTPSessionManager(
        server_for(agent),
        json_response=True,
        stateless=True,
        security_settings=security,
        max_request_body_size=LARGEST_BODY,
    )
    async with manager.run():
        await manager.handle_request({**scope, "path": PATH}, receive, send)


def _agent(authorization: str) -> Agent | None:
    scheme, _space, value = authorization.partition(" ")
    token = find_token(value.strip()) if scheme.lower() == "bearer" else None
    return None if token is None else Agent(user_id=token.user_id, token_id=token.pk)


def _is_our_host(host: str) -> bool:
    domain, _port = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def _is_our_origin(origin: str) -> bool:
    own = {urlsplit(each)[:2] for each in settings.ALLOWED_ORIGINS}
    return urlsplit(origin)[:2] in own


async def _refuse(send: Any, status: int, text: str) -> None:
    body = json.dumps({"detail": text}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
