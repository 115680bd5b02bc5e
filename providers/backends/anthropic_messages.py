"""Anthropic's Messages API, natively."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

import anthropic

from providers.backends.chat_stream import stream_answer
from providers.backends.translation import refuse_other_than, translated
from providers.core.answers import Counted, Stopped, WirePart, stop_reason_of
from providers.core.tool_calls import CallDelta, arguments_of
from providers.core.types import (
    ChatMessage,
    ChatRequest,
    Endpoint,
    ReasoningDelta,
    StreamPart,
    TextDelta,
    ToolCall,
)
from providers.egress import guarded_client

_INPUT_COUNTS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


class AnthropicMessages:
    """Streams messages through the official SDK."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    def stream(self, request: ChatRequest) -> AsyncIterator[StreamPart]:
        return stream_answer(lambda: self._wire(request), request, limits=self.endpoint.limits)

    async def _wire(self, request: ChatRequest) -> AsyncGenerator[WirePart | None, None]:
        with translated(self.endpoint, anthropic.AnthropicError):
            async with guarded_client(self.endpoint) as http:
                client = anthropic.AsyncAnthropic(
                    # Given explicitly, so that no credential of the environment is used.
                    api_key=self.endpoint.key or "none",
                    base_url=self.endpoint.base_url,
                    max_retries=0,
                    http_client=http,
                    timeout=http.timeout,
                )
                events = await client.messages.create(**call_arguments(request))
                async with events:
                    refuse_other_than("text/event-stream", events.response)
                    async for event in events:
                        for part in parts_of(event):
                            yield part
                        yield None


def call_arguments(request: ChatRequest) -> dict[str, Any]:
    """The arguments of the SDK's call. Sampling goes into the body, and only when set: the
    SDK has no argument for it and newer models refuse it."""
    arguments: dict[str, Any] = {
        "model": request.model,
        "messages": turns_of(request.messages),
        "max_tokens": request.max_output_tokens,
        "stream": True,
    }
    if request.system:
        arguments["system"] = request.system
    if request.temperature is not None:
        arguments["extra_body"] = {"temperature": request.temperature}
    if request.tools:
        arguments["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
            for tool in request.tools
        ]
        arguments["tool_choice"] = {"type": request.tool_choice}
    return arguments


def turns_of(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    """The messages in the API's form: results of tools are blocks of one user's message."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.answers is not None:
            block = _result(message, message.answers)
            if turns and turns[-1]["role"] == "user" and isinstance(turns[-1]["content"], list):
                turns[-1]["content"].append(block)
            else:
                turns.append({"role": "user", "content": [block]})
        elif message.calls:
            # An empty text block is refused.
            said = [{"type": "text", "text": message.content}] if message.content.strip() else []
            calls = [_call(call) for call in message.calls]
            turns.append({"role": "assistant", "content": [*said, *calls]})
        else:
            turns.append({"role": message.role, "content": message.content})
    return turns


def _result(message: ChatMessage, call: ToolCall) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_use_id": call.id,
        "content": message.content,
        "is_error": message.is_failure,
    }


def _call(call: ToolCall) -> dict[str, Any]:
    """What the model asked for, said back to it: the API takes nothing but an object."""
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments_of(call)}


def parts_of(event: Any) -> list[WirePart]:
    """What one event says; kinds of events we do not know say nothing."""
    kind = getattr(event, "type", None)
    if kind == "message_start":
        return _counts(getattr(getattr(event, "message", None), "usage", None))
    if kind == "content_block_start":
        return _call_begins(getattr(event, "content_block", None), getattr(event, "index", None))
    if kind == "content_block_delta":
        return _delta(getattr(event, "delta", None), getattr(event, "index", None))
    if kind == "message_delta":
        reason = getattr(getattr(event, "delta", None), "stop_reason", None)
        stop: list[WirePart] = [Stopped(stop_reason_of(reason))] if reason else []
        return stop + _counts(getattr(event, "usage", None))
    return []


def _call_begins(block: Any, place: int | None) -> list[WirePart]:
    """A block of a tool's use; servers in Anthropic's form may send its input at once."""
    if getattr(block, "type", None) != "tool_use":
        return []
    given = getattr(block, "input", None)
    arguments = json.dumps(given) if isinstance(given, dict) and given else ""
    return [CallDelta(place, str(block.id or ""), str(block.name or ""), arguments)]


def _delta(delta: Any, place: int | None) -> list[WirePart]:
    piece = getattr(delta, "partial_json", None)
    if isinstance(piece, str):
        return [CallDelta(place, arguments=piece)]
    text = getattr(delta, "text", None)
    if isinstance(text, str):
        return [TextDelta(text)]
    thinking = getattr(delta, "thinking", None)
    return [ReasoningDelta(thinking)] if isinstance(thinking, str) else []


def _counts(usage: Any) -> list[WirePart]:
    read = [getattr(usage, name, None) for name in _INPUT_COUNTS]
    numbers = [value for value in read if isinstance(value, int)]
    written = getattr(usage, "output_tokens", None)
    return [
        Counted(sum(numbers) if numbers else None, written if isinstance(written, int) else None)
    ]
