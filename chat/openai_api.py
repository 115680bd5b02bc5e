"""`/v1`: the product as a server of OpenAI's form, by personal token.

The rights, settings and limits are those of the token's user, as everywhere.
"""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema

from chat.async_views import SIGN_IN, AsyncView
from chat.core.asking import Ask, Refused
from chat.core.events import Event, EventType, RunIds
from chat.core.openai_form import Completion, parse_completion
from chat.core.openai_reply import (
    Reply,
    error_json,
    failure_json,
    frame,
    is_failure,
    may_retry,
    status_of,
)
from chat.database import in_database
from chat.following import follow_as
from chat.history import Turn
from chat.offers import site_catalogue
from chat.openai_models import NamedModel, model_named, named_models
from chat.openai_serializers import (
    CompletionRequestSerializer,
    ErrorSerializer,
    ModelListSerializer,
    ModelSerializer,
    completion_responses,
)
from chat.rights import Caller, current_user
from chat.runs import SignedOut, runs_here
from chat.sse import PING_EVERY, event_stream

# A conversation of 200 long messages.
LARGEST_BODY = 1_000_000
# How long the status of a stream waits for the first word, so that an answer that fails at
# once is an error of HTTP. Proxies give up on a silent server after a minute.
FIRST_WORD = 10.0
CONVERSATION = "X-Conversation"
_QUESTION = {
    "model": "secondbrain",
    "messages": [{"role": "user", "content": "When did the pump fail?"}],
    "metadata": {"vaults": "team", "footnotes": "true"},
}


class OpenAiView(AsyncView):
    """Refuses in the words of that form."""

    most_bytes = LARGEST_BODY

    def problem(self, status: int, code: str, text: str) -> HttpResponseBase:
        if status == 401:
            return _error(401, "invalid_api_key", SIGN_IN)
        return _error(status, code, text, param="model" if code == "model_not_found" else None)


class ModelsView(OpenAiView):
    """The models that may be asked."""

    @extend_schema(
        operation_id="v1_models", responses={200: ModelListSerializer, 401: ErrorSerializer}
    )
    async def get(self, request: HttpRequest, caller: Caller) -> HttpResponseBase:
        """`secondbrain` is the one that the settings choose; the others are the page's."""
        found = await in_database(_models, caller)
        return JsonResponse({"object": "list", "data": [_model_json(each) for each in found]})


class ModelView(OpenAiView):
    """One of them."""

    @extend_schema(
        operation_id="v1_model",
        responses={200: ModelSerializer, 401: ErrorSerializer, 404: ErrorSerializer},
    )
    async def get(self, request: HttpRequest, caller: Caller, model: str) -> HttpResponseBase:
        return JsonResponse(_model_json(await in_database(_model, caller, model)))


class CompletionsView(OpenAiView):
    """Ask, in the form of chat completions."""

    @extend_schema(
        operation_id="v1_chat_completions",
        parameters=[
            OpenApiParameter(
                CONVERSATION,
                OpenApiTypes.STR,
                OpenApiParameter.HEADER,
                description="`keep`: keep it in your list; an id: go on with this one, whose own "
                "messages are read; left out: deleted after a day",
            )
        ],
        request=CompletionRequestSerializer,
        examples=[OpenApiExample("A question", value=_QUESTION, request_only=True)],
        responses=completion_responses(),
    )
    async def post(self, request: HttpRequest, caller: Caller) -> HttpResponseBase:
        """The last message is the question, those before it the conversation so far.

        The answer cites passages as `[n]`; `sources` has them. A client that leaves ends the
        answer. Whether to stream, and what, is chosen as with OpenAI.
        """
        header = request.headers.get(CONVERSATION, "").strip()
        asked = parse_completion(self.body_of(request), conversation=header)
        model = await in_database(_model, caller, asked.model)
        turn = await runs_here().start(_with_model(asked, model), caller=caller)
        told = _Told(turn, caller, asked, model)
        return await (_streamed(told) if asked.streams else _at_once(told))


@dataclass(frozen=True)
class _Told:
    """An answer that is being told to whoever asked for it."""

    turn: Turn
    caller: Caller
    asked: Completion
    model: NamedModel

    @property
    def ids(self) -> RunIds:
        return self.turn.ids

    def reply(self) -> Reply:
        """A reply without a word yet."""
        return Reply(
            self.ids,
            self.model.name,
            settings.PUBLIC_ORIGIN,
            adds_footnotes=self.asked.adds_footnotes,
            notices=self.asked.notices,
        )


async def _at_once(told: _Told) -> HttpResponseBase:
    reply, last = told.reply(), None
    async with aclosing(_events(told)) as events:
        async for event in events:
            if event is not None:
                reply.take(event)
                last = event
    return _failed(last) or _with_conversation(JsonResponse(reply.whole(_sure(last))), told.ids)


async def _streamed(told: _Told) -> HttpResponseBase:
    """A stream, once there is a word; an error when there is none to come."""
    async with AsyncExitStack() as left:
        events = await left.enter_async_context(aclosing(_events(told)))
        heard = await _first_words(events)
        if failed := _failed(heard[-1] if heard else None):
            return failed
        left.pop_all()  # the stream closes them
        return _with_conversation(event_stream(_chunks(told, heard, events)), told.ids)


async def _first_words(events: AsyncGenerator[Event | None]) -> list[Event | None]:
    """Events up to the first word, the end, or the end of the waiting for them."""
    heard: list[Event | None] = []
    until = time.monotonic() + FIRST_WORD
    async for event in events:
        heard.append(event)
        is_word = event is not None and event.type is EventType.DELTA
        if is_word or (event and event.is_last) or time.monotonic() >= until:
            break
    return heard


async def _chunks(
    told: _Told, heard: list[Event | None], events: AsyncGenerator[Event | None]
) -> AsyncGenerator[str]:
    reply, said_at = told.reply(), time.monotonic()
    yield frame(reply.chunk({"role": "assistant", "content": ""}))
    async with aclosing(_all_of(heard, events)) as every:
        try:
            async for event in every:
                now = time.monotonic()
                if event is None and now - said_at >= PING_EVERY:
                    said_at = now
                    yield ": waiting\n\n"
                for said in _said(event, reply, told.asked) if event else ():
                    said_at = now
                    yield said
        except SignedOut:
            yield frame(error_json(401, "invalid_api_key", SIGN_IN))


def _said(event: Event, reply: Reply, asked: Completion) -> list[str]:
    """What a stream says of an event."""
    words = reply.take(event)
    said = [frame(reply.chunk({"content": words}))] if words else []
    if is_failure(event):
        return [*said, frame(failure_json(event))]
    if event.is_last:
        said.append(frame(reply.last_chunk(event)))
        if asked.sends_usage:
            said.append(frame(reply.usage_chunk(event)))
        said.append("data: [DONE]\n\n")
    return said


async def _all_of(
    heard: list[Event | None], events: AsyncGenerator[Event | None]
) -> AsyncGenerator[Event | None]:
    async with aclosing(events):
        for event in heard:
            yield event
        async for event in events:
            yield event


async def _events(told: _Told) -> AsyncGenerator[Event | None]:
    """The answer's events, as follow_as gives them; whoever leaves before the end ends it."""
    is_over = False
    try:
        async with aclosing(follow_as(told.caller, told.ids)) as followed:
            async for event in followed:
                is_over = event is not None and event.is_last
                yield event
    finally:
        if not is_over:
            _stop(told)


_stopping: set[asyncio.Task[None]] = set()


def _stop(told: _Told) -> None:
    """End the answer from a task of its own: the request's is being cancelled."""

    async def stop() -> None:
        try:
            await runs_here().stop(told.ids.run, caller=told.caller)
        except (Refused, SignedOut):
            return  # deleted meanwhile, or not theirs any more: the run finds out itself

    task = asyncio.create_task(stop(), context=contextvars.Context())
    _stopping.add(task)
    task.add_done_callback(_stopping.discard)


def _failed(last: Event | None) -> HttpResponseBase | None:
    """The error response of an answer that failed; None for any other."""
    if last is None or not is_failure(last):
        return None
    code = str(last.data["code"])
    response = JsonResponse(failure_json(last), status=status_of(code))
    response["X-Should-Retry"] = "true" if may_retry(code) else "false"
    return response


def _sure(last: Event | None) -> Event:
    if last is None:
        raise Refused("interrupted", "The answer was deleted while it was written.", status=409)
    return last


def _with_conversation(response: HttpResponseBase, ids: RunIds) -> HttpResponseBase:
    response[CONVERSATION] = str(ids.conversation)
    return response


def _with_model(asked: Completion, model: NamedModel) -> Ask:
    return replace(asked.ask, model=model.number)


def _models(caller: Caller) -> list[NamedModel]:
    user = current_user(caller)
    if user is None:
        raise SignedOut
    return named_models(user, site_catalogue())


def _model(caller: Caller, name: str) -> NamedModel:
    user = current_user(caller)
    if user is None:
        raise SignedOut
    return model_named(user, site_catalogue(), name)


def _model_json(model: NamedModel) -> dict[str, Any]:
    # When a model came to be is not known here.
    return {"id": model.name, "object": "model", "created": 0, "owned_by": model.owner}


def _error(status: int, code: str, text: str, *, param: str | None = None) -> HttpResponseBase:
    response = JsonResponse(error_json(status, code, text, param=param), status=status)
    response["X-Should-Retry"] = "true" if status == 429 or status >= 500 else "false"
    return response
