"""The socket's twin for scripts: a question by POST, its events as server-sent events."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema

from chat.async_views import AsyncView
from chat.core.asking import BadAsk, check_keys, parse_ask, parse_seq
from chat.core.events import Event, RunIds, to_wire
from chat.database import in_database
from chat.event_serializers import AskSerializer, stream_of_events
from chat.following import follow_as
from chat.history import own_message_run
from chat.rights import Caller, CloseCode, check_sources, current_user
from chat.runs import SignedOut, runs_here

# Proxies close what is silent for a minute.
PING_EVERY = 15.0
_QUESTION = {"text": "When did the pump fail?", "mode": "notes_only", "vaults": ["team"]}
_AGAIN = {"again": "5f0c5a1e-0000-4000-8000-000000000003"}


class AskView(AsyncView):
    """Ask in a conversation."""

    @extend_schema(
        operation_id="chat_ask",
        request=AskSerializer,
        examples=[
            OpenApiExample("A question", value=_QUESTION, request_only=True),
            OpenApiExample("An answer, written anew", value=_AGAIN, request_only=True),
        ],
        responses=stream_of_events(400, 401, 403, 404, 409, 413, 429, 503),
    )
    async def post(
        self, request: HttpRequest, caller: Caller, conversation: UUID
    ) -> HttpResponseBase:
        """The response streams the answer as server-sent events.

        `sources` comes first; `done`, `stopped` or `error` last. An answer is written to its
        end when the reader leaves: it can be followed again at its own `events`.
        """
        body = self.body_of(request)
        check_keys(body, known=("id", *AskSerializer().fields))
        ask = parse_ask({**body, "conversation": str(conversation)})
        turn = await runs_here().start(ask, caller=caller)
        return _stream(turn.ids, after=0, caller=caller)


class EventsView(AsyncView):
    """Follow an answer that is being written, or read how it was."""

    @extend_schema(
        operation_id="chat_events",
        parameters=[
            OpenApiParameter("after", OpenApiTypes.INT, description="events from the next one on"),
            OpenApiParameter(
                "Last-Event-ID",
                OpenApiTypes.INT,
                OpenApiParameter.HEADER,
                description="as `after`, which counts first",
            ),
        ],
        responses=stream_of_events(400, 401, 403, 404),
    )
    async def get(
        self, request: HttpRequest, caller: Caller, conversation: UUID, message: UUID
    ) -> HttpResponseBase:
        """Its events, without gap or duplicate, to its end."""
        after = _after(request)
        ids = await in_database(_run_of, caller, conversation, message)
        return _stream(ids, after=after, caller=caller)


def _stream(ids: RunIds, *, after: int, caller: Caller) -> StreamingHttpResponse:
    return event_stream(_frames(ids, after=after, caller=caller))


def event_stream(frames: AsyncGenerator[str]) -> StreamingHttpResponse:
    """A response of server-sent events that proxies pass on at once."""
    response = StreamingHttpResponse(frames, content_type="text/event-stream")
    response["Cache-Control"] = "no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"
    return response


async def _frames(ids: RunIds, *, after: int, caller: Caller) -> AsyncGenerator[str]:
    """Events as text, and a comment now and then."""
    said_at = time.monotonic()
    try:
        async with aclosing(follow_as(caller, ids, after=after)) as followed:
            async for event in followed:
                now = time.monotonic()
                if event is not None:
                    said_at = now
                    yield _event_frame(event, ids)
                elif now - said_at >= PING_EVERY:
                    said_at = now
                    yield ": waiting\n\n"
    except SignedOut:
        yield _frame("closed", {"type": "closed", "code": int(CloseCode.SIGNED_OUT)})


def _event_frame(event: Event, ids: RunIds) -> str:
    return _frame(event.type.value, to_wire(event, ids), seq=event.seq)


def _frame(kind: str, data: dict[str, Any], *, seq: int | None = None) -> str:
    number = "" if seq is None else f"id: {seq}\n"
    return f"{number}event: {kind}\ndata: {json.dumps(data)}\n\n"


def _run_of(caller: Caller, conversation: UUID, message: UUID) -> RunIds:
    user = current_user(caller)
    if user is None:
        raise SignedOut
    ids = own_message_run(user, conversation, message)
    check_sources(user, ids.message)
    return ids


def _after(request: HttpRequest) -> int:
    value = request.GET.get("after") or request.headers.get("Last-Event-ID") or "0"
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise BadAsk("“after” must be the number of an event, from 0.")
    return parse_seq(int(value))
