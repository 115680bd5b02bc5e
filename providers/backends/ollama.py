"""Ollama by its own API: the one that takes a context length, for chat, and says when a
text is too long, for embeddings. Its OpenAI-compatible address does neither."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import httpx2

from providers.backends.chat_stream import stream_answer
from providers.backends.http_json import authorization, field_of, post_json
from providers.backends.remote_embedder import RemoteEmbedder
from providers.backends.retries import with_retries
from providers.backends.translation import error_for_response, refuse_other_than, translated
from providers.core.answers import Counted, Stopped, WirePart, stop_reason_of
from providers.core.errors import WrongAddress
from providers.core.failures import error_in_stream
from providers.core.tool_calls import CallDelta, arguments_of, function_of
from providers.core.types import (
    ChatMessage,
    ChatRequest,
    Endpoint,
    ReasoningDelta,
    StreamPart,
    TextDelta,
)
from providers.egress import guarded_client

_FIRST_FAILURE = 300


class OllamaChat:
    """Streams `/api/chat`. A server behind the URL that is no Ollama but speaks chat
    completions (a proxy, LM Studio) is spoken to in that form."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    def stream(self, request: ChatRequest) -> AsyncIterator[StreamPart]:
        return stream_answer(lambda: self._wire(request), request, limits=self.endpoint.limits)

    async def _wire(self, request: ChatRequest) -> AsyncGenerator[WirePart | None, None]:
        try:
            async with aclosing(self._own_wire(request)) as wire:
                async for part in wire:
                    yield part
            return
        except WrongAddress:
            from providers.backends.openai_chat import OpenAIChat
        compatible = replace(self.endpoint, base_url=f"{self.endpoint.base_url}/v1")
        async with aclosing(OpenAIChat(compatible).wire(request)) as wire:
            async for part in wire:
                yield part

    async def _own_wire(self, request: ChatRequest) -> AsyncGenerator[WirePart | None, None]:
        endpoint = self.endpoint
        with translated(endpoint):
            async with guarded_client(endpoint) as client, self._call(client, request) as reply:
                if reply.status_code >= _FIRST_FAILURE:
                    await reply.aread()
                    raise error_for_response(reply, url=f"{endpoint.base_url}/api/chat")
                _refuse_chat_completions(reply)
                refuse_other_than("application/x-ndjson", reply)
                async for line in reply.aiter_lines():
                    for part in self._parts_of(line):
                        yield part
                    yield None

    def _call(self, client: httpx2.AsyncClient, request: ChatRequest) -> Any:
        return client.stream(
            "POST",
            f"{self.endpoint.base_url}/api/chat",
            json=call_body(request),
            headers=authorization(self.endpoint),
        )

    def _parts_of(self, line: str) -> list[WirePart]:
        if not line.strip():
            return []
        event = json.loads(line)
        if not isinstance(event, dict):
            raise ValueError("a line that is no object")
        if event.get("error"):
            raise error_in_stream(event, url=self.endpoint.base_url)
        return parts_of(event)


def call_body(request: ChatRequest) -> dict[str, Any]:
    """The body of `/api/chat`. Without `num_ctx` Ollama cuts the prompt to its own default
    and drops the system prompt and the passages first."""
    system = [{"role": "system", "content": request.system}] if request.system else []
    turns = [_turn(message) for message in request.messages]
    options: dict[str, Any] = {
        "num_ctx": request.context_window,
        "num_predict": request.max_output_tokens,
    }
    if request.temperature is not None:
        options["temperature"] = request.temperature
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [*system, *turns],
        "stream": True,
        "options": options,
    }
    # It has no choice of tools: what must not be called is not offered.
    if request.tools and request.tool_choice != "none":
        body["tools"] = [function_of(tool) for tool in request.tools]
    return body


def _turn(message: ChatMessage) -> dict[str, Any]:
    """A message in Ollama's form, where a result names its tool and arguments are objects."""
    turn: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.answers is not None:
        turn["tool_name"] = message.answers.name
        turn["tool_call_id"] = message.answers.id
    if message.calls:
        turn["tool_calls"] = [
            {"id": call.id, "function": {"name": call.name, "arguments": arguments_of(call)}}
            for call in message.calls
        ]
    return turn


def parts_of(event: dict[str, Any]) -> list[WirePart]:
    """What one line of the stream says."""
    parts: list[WirePart] = []
    message = event.get("message")
    if isinstance(message, dict):
        if isinstance(message.get("thinking"), str):
            parts.append(ReasoningDelta(message["thinking"]))
        if isinstance(message.get("content"), str):
            parts.append(TextDelta(message["content"]))
        parts += _calls(message.get("tool_calls"))
    if event.get("done"):
        parts.append(Stopped(stop_reason_of(str(event.get("done_reason") or "stop"))))
        counts = (event.get("prompt_eval_count"), event.get("eval_count"))
        parts.append(Counted(*(it if isinstance(it, int) else None for it in counts)))
    return parts


def _calls(rows: Any) -> list[WirePart]:
    """Whole calls: Ollama sends none in pieces."""
    parts: list[WirePart] = []
    for row in rows if isinstance(rows, list) else []:
        function = row.get("function") if isinstance(row, dict) else None
        if not isinstance(function, dict):
            continue
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
        name = str(function.get("name") or "")
        parts.append(CallDelta(id=str(row.get("id") or ""), name=name, arguments=text))
    return parts


def _refuse_chat_completions(reply: httpx2.Response) -> None:
    """llama.cpp answers at Ollama's address in the form of chat completions, and takes no
    context length there either: it is better spoken to at its own address."""
    if reply.headers.get("content-type", "").startswith("text/event-stream"):
        raise WrongAddress("The server behind the Ollama URL speaks chat completions.")


class OllamaEmbedder(RemoteEmbedder):
    """Embeds a batch by `/api/embed`; an older Ollama gets one text after the other."""

    async def rows(self, inputs: list[str]) -> list[Sequence[float]]:
        try:
            return await with_retries(lambda: self._batch(inputs), limits=self.endpoint.limits)
        except WrongAddress:
            return [await self._single(text) for text in inputs]

    async def _batch(self, inputs: list[str]) -> list[Sequence[float]]:
        # Without `truncate` a text over the limit is cut without a word.
        body = {"model": self.spec.model, "input": inputs, "truncate": False}
        reply = await post_json(self.endpoint, "/api/embed", body)
        rows: list[Sequence[float]] = field_of(reply, "embeddings", list)
        return rows

    async def _single(self, text: str) -> Sequence[float]:
        body = {"model": self.spec.model, "prompt": text}
        reply = await with_retries(
            lambda: post_json(self.endpoint, "/api/embeddings", body), limits=self.endpoint.limits
        )
        row: Sequence[float] = field_of(reply, "embedding", list)
        return row
