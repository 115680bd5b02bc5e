"""The socket's twin for scripts: a question by POST, its events as server-sent events.

Plain asynchronous views, because REST framework has none. Sessions need a CSRF token,
personal tokens do not.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, cast
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request

from chat.core.asking import BadAsk, Refused, parse_ask, parse_seq
from chat.core.events import Event, RunIds, to_wire
from chat.database import in_database
from chat.endings import rights_lost_after
from chat.history import own_message_run
from chat.rights import (
    Caller,
    CloseCode,
    caller_of_session,
    check_sources,
    current_user,
    permission_of,
)
from chat.runs import SignedOut, runs_here
from vault.tokens import find_token

CHECK_EVERY = 1.0
# Proxies close what is silent for a minute.
PING_EVERY = 15.0
LARGEST_BODY = 100_000


@csrf_exempt
async def ask(request: HttpRequest, conversation: UUID) -> HttpResponseBase:
    """POST a question (or `again`); the response streams the answer's events."""
    if request.method != "POST":
        return _problem(405, "method_not_allowed", "Send the question by POST.")
    try:
        caller = await in_database(_caller_of, request)
        body = _body(request)
        turn = await runs_here().start(
            parse_ask({**body, "conversation": str(conversation)}), caller=caller
        )
    except Refused as refusal:
        return _problem(refusal.status, refusal.code, str(refusal))
    except SignedOut:
        return _signed_out()
    return _stream(turn.ids, after=0, caller=caller)


@csrf_exempt
async def events(request: HttpRequest, conversation: UUID, message: UUID) -> HttpResponseBase:
    """GET the events of an answer from the one after `after` (or `Last-Event-ID`)."""
    if request.method != "GET":
        return _problem(405, "method_not_allowed", "Events are read by GET.")
    try:
        caller = await in_database(_caller_of, request)
        after = _after(request)
        ids = await in_database(_run_of, caller, conversation, message)
    except Refused as refusal:
        return _problem(refusal.status, refusal.code, str(refusal))
    except SignedOut:
        return _signed_out()
    return _stream(ids, after=after, caller=caller)


def _stream(ids: RunIds, *, after: int, caller: Caller) -> StreamingHttpResponse:
    response = StreamingHttpResponse(
        _frames(ids, after=after, caller=caller), content_type="text/event-stream"
    )
    response["Cache-Control"] = "no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"
    return response


async def _frames(ids: RunIds, *, after: int, caller: Caller) -> AsyncGenerator[str]:
    """Events as text, a comment now and then, and the caller's rights asked every second."""
    checked_at = said_at = time.monotonic()
    async with aclosing(runs_here().follow(ids.run, after=after)) as followed:
        coming: asyncio.Task[Event | None] = asyncio.create_task(_next(followed))
        try:
            while True:
                done, _ = await asyncio.wait({coming}, timeout=CHECK_EVERY)
                now = time.monotonic()
                if now - checked_at >= CHECK_EVERY:
                    checked_at = now
                    may = await in_database(permission_of, caller, message_ids=(ids.message,))
                    if not may.is_signed_in:
                        closed = {"type": "closed", "code": int(CloseCode.SIGNED_OUT)}
                        yield _frame("closed", closed)
                        return
                    if may.lost:
                        yield _event_frame(rights_lost_after(after), ids)
                        return
                if done:
                    event = coming.result()
                    if event is None:
                        return
                    said_at = now
                    after = event.seq
                    yield _event_frame(event, ids)
                    coming = asyncio.create_task(_next(followed))
                elif now - said_at >= PING_EVERY:
                    said_at = now
                    yield ": waiting\n\n"
        finally:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)


async def _next(followed: AsyncGenerator[Event]) -> Event | None:
    return await anext(followed, None)


def _event_frame(event: Event, ids: RunIds) -> str:
    return _frame(event.type.value, to_wire(event, ids), seq=event.seq)


def _frame(kind: str, data: dict[str, Any], *, seq: int | None = None) -> str:
    number = "" if seq is None else f"id: {seq}\n"
    return f"{number}event: {kind}\ndata: {json.dumps(data)}\n\n"


def _caller_of(request: HttpRequest) -> Caller:
    """Who asks, by token or by session. Raises SignedOut, Refused."""
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        token = find_token(value.strip())
        if token is None:
            raise SignedOut
        return Caller(user_id=token.user_id, token_id=token.pk)
    caller = caller_of_session(request.session, request.user)
    if caller is None:
        raise SignedOut
    if request.method != "GET":
        try:
            SessionAuthentication().enforce_csrf(cast("Request", request))
        except PermissionDenied as error:
            raise Refused("csrf", str(error.detail), status=403) from error
    return caller


def _run_of(caller: Caller, conversation: UUID, message: UUID) -> RunIds:
    user = current_user(caller)
    if user is None:
        raise SignedOut
    ids = own_message_run(user, conversation, message)
    check_sources(user, ids.message)
    return ids


def _body(request: HttpRequest) -> dict[str, Any]:
    if len(request.body) > LARGEST_BODY:
        raise Refused("too_large", f"Send at most {LARGEST_BODY:,} bytes.", status=413)
    try:
        body = json.loads(request.body or b"{}")
    except (ValueError, RecursionError) as error:
        raise BadAsk("The body is not JSON.") from error
    if not isinstance(body, dict):
        raise BadAsk("The body must be a JSON object.")
    return body


def _after(request: HttpRequest) -> int:
    value = request.GET.get("after") or request.headers.get("Last-Event-ID") or "0"
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise BadAsk("“after” must be the number of an event, from 0.")
    return parse_seq(int(value))


def _problem(status: int, code: str, text: str) -> JsonResponse:
    return JsonResponse({"code": code, "detail": text}, status=status)


def _signed_out() -> JsonResponse:
    response = _problem(401, "not_authenticated", "Sign in, or send a valid token.")
    response["WWW-Authenticate"] = "Bearer"
    return response
