"""The three wire forms of a streamed answer, so that one suite runs against all."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from providers.backends.anthropic_messages import AnthropicMessages
from providers.backends.ollama import OllamaChat
from providers.backends.openai_chat import OpenAIChat
from providers.core.protocols import ChatProvider
from providers.core.types import Endpoint, TimeLimits
from tests.contracts.server import ModelServer, Reply, Step

KEY = "sk-planted-1234567890abcdef"
PATIENT = TimeLimits(connect=5, first_content=10, between_content=10, retry_pause=0.01)


@dataclass(frozen=True)
class Wire:
    """How one kind of server spells the parts of a stream."""

    name: str
    backend: Callable[[Endpoint], ChatProvider]
    version: str
    content_type: str
    begin: bytes
    text: Callable[[str], bytes]
    reasoning: Callable[[str], bytes]
    stop: Callable[[str], bytes]
    error: Callable[[str], bytes]
    keep_alive: bytes
    end: bytes
    broken: bytes
    length: str
    # A whole call of a tool: its place, id and name, and the pieces of its arguments.
    call: Callable[[int, str, str, tuple[str, ...]], bytes]
    called: str

    def __str__(self) -> str:
        return self.name

    def good(self, *texts: str) -> Reply:
        """A whole answer: 11 tokens in, 3 out."""
        steps = [self.begin, *map(self.text, texts), self.stop(""), self.end]
        return self.reply(*steps)

    def reply(self, *steps: Step) -> Reply:
        return Reply(list(steps), headers={"content-type": self.content_type})

    def chat(
        self, server: ModelServer, *, limits: TimeLimits = PATIENT, is_trusted: bool = True
    ) -> ChatProvider:
        return self.backend(
            Endpoint(
                kind=self.name,
                base_url=f"{server.url}{self.version}",
                key=KEY,
                limits=limits,
                is_trusted=is_trusted,
            )
        )


def _event(document: Any, *, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(document)}\n\n".encode()


def _chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _event({"id": "c1", "object": "chat.completion.chunk", "choices": [choice]})


def _openai_stop(reason: str) -> bytes:
    usage = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
    return _chunk({}, reason or "stop") + _event({"id": "c1", "choices": [], "usage": usage})


def _openai_call(place: int, call_id: str, name: str, pieces: tuple[str, ...]) -> bytes:
    head = {"index": place, "id": call_id, "type": "function"}
    first = _chunk({"tool_calls": [{**head, "function": {"name": name, "arguments": ""}}]})
    return first + b"".join(
        _chunk({"tool_calls": [{"index": place, "function": {"arguments": piece}}]})
        for piece in pieces
    )


OPENAI = Wire(
    name="openai",
    backend=OpenAIChat,
    version="/v1",
    content_type="text/event-stream",
    begin=_chunk({"role": "assistant", "content": ""}),
    text=lambda text: _chunk({"content": text}),
    reasoning=lambda text: _chunk({"reasoning_content": text}),
    stop=_openai_stop,
    error=lambda text: _event({"error": {"message": text, "type": "server_error"}}),
    keep_alive=b": keep-alive\n\n",
    end=b"data: [DONE]\n\n",
    broken=b'data: {"id": "c1", "choices": [{"delta"\n\n',
    length="length",
    call=_openai_call,
    called="tool_calls",
)


def _named(document: dict[str, Any]) -> bytes:
    return _event(document, name=document["type"])


def _delta(delta: dict[str, str]) -> bytes:
    return _named({"type": "content_block_delta", "index": 0, "delta": delta})


_MESSAGE: dict[str, Any] = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "model": "fake",
    "content": [],
    "stop_reason": None,
    "usage": {"input_tokens": 11, "output_tokens": 1},
}


def _anthropic_call(place: int, call_id: str, name: str, pieces: tuple[str, ...]) -> bytes:
    # The text has the first block.
    at = place + 1
    block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    begin = _named({"type": "content_block_start", "index": at, "content_block": block})
    deltas = [
        _named(
            {
                "type": "content_block_delta",
                "index": at,
                "delta": {"type": "input_json_delta", "partial_json": piece},
            }
        )
        for piece in ("", *pieces)
    ]
    return b"".join([begin, *deltas, _named({"type": "content_block_stop", "index": at})])


ANTHROPIC = Wire(
    name="anthropic",
    backend=AnthropicMessages,
    version="",
    content_type="text/event-stream",
    begin=_named({"type": "message_start", "message": _MESSAGE})
    + _named(
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "text", "text": ""},
        }
    ),
    text=lambda text: _delta({"type": "text_delta", "text": text}),
    reasoning=lambda text: _delta({"type": "thinking_delta", "thinking": text}),
    stop=lambda reason: _named(
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason or "end_turn"},
            "usage": {"output_tokens": 3},
        }
    ),
    error=lambda text: _named(
        {"type": "error", "error": {"type": "overloaded_error", "message": text}}
    ),
    keep_alive=_named({"type": "ping"}),
    end=_named({"type": "message_stop"}),
    broken=b'event: content_block_delta\ndata: {"type": "content_bl\n\n',
    length="max_tokens",
    call=_anthropic_call,
    called="tool_use",
)


def _line(document: dict[str, Any]) -> bytes:
    return json.dumps(document).encode() + b"\n"


def _ollama_call(_place: int, call_id: str, name: str, pieces: tuple[str, ...]) -> bytes:
    text = "".join(pieces)
    try:
        arguments = json.loads(text)
    except ValueError:
        arguments = text
    call = {"id": call_id, "function": {"name": name, "arguments": arguments}}
    return _line({"message": {"content": "", "tool_calls": [call]}, "done": False})


OLLAMA = Wire(
    name="ollama",
    backend=OllamaChat,
    version="",
    content_type="application/x-ndjson",
    begin=_line({"model": "fake", "message": {"role": "assistant", "content": ""}, "done": False}),
    text=lambda text: _line({"message": {"role": "assistant", "content": text}, "done": False}),
    reasoning=lambda text: _line({"message": {"content": "", "thinking": text}, "done": False}),
    stop=lambda reason: _line(
        {
            "message": {"role": "assistant", "content": ""},
            "done": True,
            "done_reason": reason or "stop",
            "prompt_eval_count": 11,
            "eval_count": 3,
        }
    ),
    error=lambda text: _line({"error": text}),
    keep_alive=b"\n",
    end=b"",
    broken=b'{"message": {"content"\n',
    length="length",
    call=_ollama_call,
    called="stop",
)

WIRES = (OPENAI, ANTHROPIC, OLLAMA)
