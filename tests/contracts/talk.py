"""A chat over a wire: what the tests ask, and what they hear."""

from __future__ import annotations

from typing import Any

from providers.core.errors import (
    ProviderError,
)
from providers.core.types import (
    ChatMessage,
    ChatRequest,
    ReasoningDelta,
    StreamPart,
    TextDelta,
    TimeLimits,
    Withdrawal,
)
from tests.contracts.server import ModelServer, Step, serving
from tests.contracts.wires import Wire

HASTY = TimeLimits(connect=2, first_content=0.5, between_content=0.5, retry_pause=0.01)


REQUEST = ChatRequest(
    "fake-model",
    (
        ChatMessage("user", "Why?"),
        ChatMessage("assistant", "Because."),
        ChatMessage("user", "Really?"),
    ),
    system="Be brief.",
    max_output_tokens=500,
    context_window=4096,
)


async def collect(
    wire: Wire, server: ModelServer, *, limits: TimeLimits | None = None, **changes: Any
) -> list[StreamPart]:
    request = ChatRequest(**{name: getattr(REQUEST, name) for name in REQUEST.__slots__} | changes)
    chat = wire.chat(server, limits=limits) if limits else wire.chat(server)
    return [part async for part in chat.stream(request)]


def text_of(parts: list[StreamPart]) -> str:
    """The text as a reader ends up with it."""
    text = ""
    for part in parts:
        if isinstance(part, Withdrawal):
            text = ""
        elif isinstance(part, TextDelta):
            text += part.text
    return text


def reasoning_of(parts: list[StreamPart]) -> str:
    return "".join(part.text for part in parts if isinstance(part, ReasoningDelta))


async def failure_of(
    wire: Wire, *steps: Step, limits: TimeLimits | None = None
) -> tuple[str, ProviderError]:
    """The text that arrived before the failure, and the failure."""
    async with serving(wire.reply(*steps)) as server:
        chat = wire.chat(server, limits=limits) if limits else wire.chat(server)
        text = ""
        try:
            async for part in chat.stream(REQUEST):
                text += part.text if isinstance(part, TextDelta) else ""
        except ProviderError as error:
            return text, error
    raise AssertionError(f"the stream ended well with {text!r}")
