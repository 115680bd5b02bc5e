"""Chat completions: OpenAI, Together, OpenRouter, vLLM, llama.cpp and their like."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import openai

from providers.backends.chat_stream import stream_answer
from providers.backends.translation import refuse_other_than, translated
from providers.core.answers import Counted, Stopped, WirePart, stop_reason_of
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

_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")


def openai_client(endpoint: Endpoint, http_client: Any) -> openai.AsyncOpenAI:
    """The SDK's client, taking nothing from the environment: an organisation or a header
    meant for OpenAI must not travel to another provider."""
    # Left out, not empty: OpenAI would look for an organisation without a name.
    left_out: Any = {"OpenAI-Organization": openai.omit, "OpenAI-Project": openai.omit}
    return openai.AsyncOpenAI(
        api_key=endpoint.key or "none",
        default_headers=left_out,
        base_url=endpoint.base_url,
        max_retries=0,
        http_client=http_client,
        timeout=http_client.timeout,
    )


class OpenAIChat:
    """Streams chat completions through the official SDK."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    def stream(self, request: ChatRequest) -> AsyncIterator[StreamPart]:
        return stream_answer(lambda: self.wire(request), request, limits=self.endpoint.limits)

    async def wire(self, request: ChatRequest) -> AsyncGenerator[WirePart | None, None]:
        """One call. Raises ProviderError."""
        with translated(self.endpoint, openai.OpenAIError):
            async with guarded_client(self.endpoint) as http:
                client = openai_client(self.endpoint, http)
                arguments = call_arguments(request, host=urlsplit(self.endpoint.base_url).hostname)
                chunks = await client.chat.completions.create(**arguments)
                async with chunks:
                    refuse_other_than("text/event-stream", chunks.response)
                    async for chunk in chunks:
                        for part in parts_of(chunk):
                            yield part
                        yield None


def call_arguments(request: ChatRequest, *, host: str | None) -> dict[str, Any]:
    """The arguments of the SDK's call. Sampling only when set: some models refuse it."""
    system = [{"role": "system", "content": request.system}] if request.system else []
    turns = [turn_of(message) for message in request.messages]
    # OpenAI's newer models refuse the old name, everybody else's servers know no other.
    limit = "max_completion_tokens" if host == "api.openai.com" else "max_tokens"
    arguments: dict[str, Any] = {
        "model": request.model,
        "messages": [*system, *turns],
        "stream": True,
        "stream_options": {"include_usage": True},
        limit: request.max_output_tokens,
    }
    if request.temperature is not None:
        arguments["temperature"] = request.temperature
    if request.tools:
        arguments["tools"] = [function_of(tool) for tool in request.tools]
        # "auto" is what everybody does unasked; some servers refuse the word.
        if request.tool_choice != "auto":
            arguments["tool_choice"] = request.tool_choice
    return arguments


def turn_of(message: ChatMessage) -> dict[str, Any]:
    """A message in the form of chat completions."""
    turn: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.answers is not None:
        turn["tool_call_id"] = message.answers.id
    if message.calls:
        turn["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                # Said back as an object: servers parse it, and broken JSON fails the call.
                "function": {"name": call.name, "arguments": json.dumps(arguments_of(call))},
            }
            for call in message.calls
        ]
    return turn


def parts_of(chunk: Any) -> list[WirePart]:
    """What one chunk says. Servers leave out or null any part of it."""
    parts: list[WirePart] = []
    choices = getattr(chunk, "choices", None)
    for choice in choices[:1] if isinstance(choices, list) else []:
        delta = getattr(choice, "delta", None)
        reasoning = next(filter(None, (_text(delta, name) for name in _REASONING_FIELDS)), "")
        if reasoning:
            parts.append(ReasoningDelta(reasoning))
        # A refusal takes the place of the content.
        text = _text(delta, "content") or _text(delta, "refusal")
        if text:
            parts.append(TextDelta(text))
        parts += _calls(getattr(delta, "tool_calls", None))
        reason = getattr(choice, "finish_reason", None)
        if isinstance(reason, str) and reason:
            parts.append(Stopped(stop_reason_of(reason)))
    usage = getattr(chunk, "usage", None)
    if usage is not None:
        parts.append(Counted(_count(usage, "prompt_tokens"), _count(usage, "completion_tokens")))
    return parts


def _calls(pieces: Any) -> list[WirePart]:
    """Pieces of calls. Some servers send the arguments as an object instead of its text."""
    parts: list[WirePart] = []
    for piece in pieces if isinstance(pieces, list) else []:
        function = getattr(piece, "function", None)
        arguments = getattr(function, "arguments", None)
        text = json.dumps(arguments) if isinstance(arguments, dict) else arguments
        parts.append(
            CallDelta(
                place=_count(piece, "index"),
                id=_text(piece, "id"),
                name=_text(function, "name"),
                arguments=text if isinstance(text, str) else "",
            )
        )
    return parts


def _text(delta: Any, name: str) -> str:
    value = getattr(delta, name, None)
    return value if isinstance(value, str) else ""


def _count(usage: Any, name: str) -> int | None:
    value = getattr(usage, name, None)
    return value if isinstance(value, int) else None
