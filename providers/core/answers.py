"""From what a wire says to what a stream yields: reasoning, caps, the end and its reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from providers.core.errors import CutOff, ProtocolError, ProviderError
from providers.core.reasoning import ReasoningSplitter
from providers.core.text import DeltaCleaner
from providers.core.tool_calls import CallCollector, CallDelta
from providers.core.types import (
    ChatRequest,
    ReasoningDelta,
    StopReason,
    StreamPart,
    TextDelta,
    ToolCall,
    Usage,
)

MOST_CHARACTERS = 1_000_000
CHARACTERS_PER_TOKEN = 16
"""No tokenizer makes longer tokens out of prose: more is a flood, not an answer."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The wire named the reason why the model stopped."""

    reason: StopReason


@dataclass(frozen=True, slots=True)
class Counted:
    """The wire named token figures; those it left out stay as they were."""

    input_tokens: int | None = None
    output_tokens: int | None = None


WirePart = TextDelta | ReasoningDelta | CallDelta | Stopped | Counted

_STOP_REASONS: dict[str, StopReason] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "tool_calls": "tool",
    "function_call": "tool",
    "tool_use": "tool",
    "content_filter": "filter",
    "refusal": "filter",
    "safety": "filter",
}


def stop_reason_of(name: str) -> StopReason:
    """Our word for a provider's reason; one we do not know is an ordinary end."""
    return _STOP_REASONS.get(name.lower(), "end")


class Answer:
    """One answer as it arrives. Feed it wire parts; it gives stream parts back."""

    def __init__(self, request: ChatRequest) -> None:
        self.stop_reason: StopReason | None = None
        self.has_content = False
        self._most = min(MOST_CHARACTERS, request.max_output_tokens * CHARACTERS_PER_TOKEN)
        self._length = 0
        self._text_cleaner = DeltaCleaner()
        self._reasoning_cleaner = DeltaCleaner()
        self._splitter = ReasoningSplitter()
        self._calls = CallCollector()
        self._input: int | None = None
        self._output: int | None = None

    @property
    def is_full(self) -> bool:
        """Whether more was sent than an answer may have."""
        return self._length >= self._most

    def feed(self, part: WirePart) -> list[StreamPart]:
        """The stream parts that are certain now."""
        if isinstance(part, Stopped):
            self.stop_reason = part.reason
            return []
        if isinstance(part, Counted):
            self._count(part)
            return []
        if isinstance(part, CallDelta):
            self.has_content = True
            self._length += part.size
            self._calls.feed(part)
            return []
        self.has_content = self.has_content or bool(part.text)
        if isinstance(part, ReasoningDelta):
            text = self._reasoning_cleaner.feed(part.text)
            return self._capped([ReasoningDelta(text)] if text else [])
        return self._capped(self._splitter.feed(self._text_cleaner.feed(part.text)))

    def flush(self) -> list[StreamPart]:
        """What was held back, at the end of the wire. Text that was received is never
        lost, also when the stream then turns out to be cut."""
        rest = self._splitter.feed(self._text_cleaner.finish())
        return self._capped([*rest, *self._splitter.finish()])

    def calls(self) -> list[ToolCall]:
        """The tools that the reply asks for, once it ended well. A reply that was cut at a
        limit or by a filter asks for nothing: its last call may be half of one."""
        if self.is_full or self.stop_reason in {None, "length", "filter"}:
            return []
        return self._calls.calls()

    def usage(self) -> Usage:
        """The last part. Raises CutOff or ProtocolError when no stop reason was seen."""
        if self.is_full:
            self.stop_reason = "length"
        if self.stop_reason is None:
            raise self._without_end()
        if self.calls():
            # Many servers say "stop" all the same.
            self.stop_reason = "tool"
        is_reported = self._input is not None or self._output is not None
        return Usage(self._input or 0, self._output or 0, self.stop_reason, is_reported)

    def _without_end(self) -> ProviderError:
        if self.has_content:
            return CutOff("The connection ended before the model was done.")
        return ProtocolError("The reply was empty: no text and no reason why it stopped.")

    def _count(self, part: Counted) -> None:
        self._input = self._input if part.input_tokens is None else part.input_tokens
        self._output = self._output if part.output_tokens is None else part.output_tokens

    def _capped(self, pieces: Iterable[StreamPart]) -> list[StreamPart]:
        kept: list[StreamPart] = []
        for piece in pieces:
            if isinstance(piece, TextDelta | ReasoningDelta):
                room = self._most - self._length
                if room <= 0:
                    break
                kept.append(type(piece)(piece.text[:room]))
                self._length += min(len(piece.text), room)
            else:
                kept.append(piece)
        return kept
