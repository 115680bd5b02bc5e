"""One call to the model for an answer: its words as they come, its calls of tools, its end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import cast

from chat.core.asking import clean_answer
from chat.core.events import EventType
from chat.core.seam import Seam
from chat.parts import Said, TurnPart, Withdrawn, Words
from providers.core.errors import InputTooLong, ProviderError
from providers.core.protocols import ChatProvider
from providers.core.tokens import estimate_usage
from providers.core.types import (
    ChatRequest,
    ReasoningDelta,
    StreamPart,
    TextDelta,
    ToolCall,
    Usage,
    Withdrawal,
)


class NoAnswer(ProviderError):
    """The model ended without a word, or its provider withheld them."""

    code = "no_answer"
    mend = "Ask again, or choose another model."


class Withheld(ProviderError):
    """The provider's filter ended the answer."""

    code = "filtered"
    mend = "Put the question in other words, or choose another model."


SHORTENED = "The model takes less text than its settings say: asking again with half of it"


@dataclass
class Reply:
    """What the model has said so far in one call. `begun` is the text that it goes on from."""

    begun: str = ""
    is_thinking: bool = False
    usage: Usage = field(default_factory=Usage)
    asked: ChatRequest | None = None
    written: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._seam = Seam(self.begun)
        self._text: list[str] = []

    @property
    def text(self) -> str:
        """Its words, without the text that it goes on from."""
        return "".join(self._text)

    def spent(self) -> Usage:
        """For the accounts: a stopped or broken answer was paid for as well."""
        is_known = self.usage.is_reported and (self.usage.output_tokens or not self.written)
        if is_known or self.asked is None:
            return self.usage
        return replace(estimate_usage(self.asked, self.written), stop_reason=self.usage.stop_reason)

    def hear(self, part: StreamPart | Said) -> Iterator[TurnPart]:
        """Take a part in, and give what the reader is told of it."""
        self._note(part)
        if isinstance(part, Said):
            yield part
        elif isinstance(part, ReasoningDelta):
            if not self.is_thinking:
                self.is_thinking = True
                yield Said(EventType.STATUS, {"stage": "thinking", "text": "Thinking"})
        elif isinstance(part, Withdrawal):
            self._text.clear()
            self._seam = Seam(self.begun)
            yield Withdrawn()
            if self.begun:
                yield Words(self.begun)
        elif isinstance(part, TextDelta) and (text := clean_answer(part.text)):
            self._text.append(text)
            if new := self._seam.push(text):
                yield Words(new)

    def finish(self) -> Iterator[TurnPart]:
        """What was held back."""
        if rest := self._seam.finish():
            yield Words(rest)

    def check(self) -> None:
        """Raises NoAnswer or Withheld for an ending that must not look like a full answer."""
        reason = self.usage.stop_reason
        if reason == "filter":
            raise Withheld("The provider's content filter ended the answer.")
        if self.text.strip():
            return
        if reason == "length":
            raise NoAnswer(
                "The model reached its limit of output tokens before it wrote a word of the "
                "answer. An admin can raise “max output tokens” of this model."
            )
        raise NoAnswer("The model ended without an answer.")

    def _note(self, part: StreamPart | Said) -> None:
        if isinstance(part, TextDelta | ReasoningDelta):
            self.written.append(part.text)
        elif isinstance(part, Usage):
            self.usage = part
        elif isinstance(part, ToolCall):
            self.calls.append(part)
            self.written.append(part.arguments)


async def stream_what_fits(
    provider: ChatProvider, requests: Sequence[ChatRequest], reply: Reply
) -> AsyncGenerator[StreamPart | Said]:
    """Try the next, shorter request when the model says that this one is too long."""
    for request in requests:
        began, reply.asked = False, request
        stream = cast("AsyncGenerator[StreamPart]", provider.stream(request))
        try:
            async with aclosing(stream) as parts:
                async for part in parts:
                    began = True
                    yield part
        except InputTooLong:
            if began or request is requests[-1]:
                raise
            yield Said(EventType.STATUS, {"stage": "shortened", "text": SHORTENED})
        else:
            return
