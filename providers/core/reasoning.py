"""Parts a model's reasoning from its answer when both come as one text.

Local models write `<think>…</think>` into the answer. A tag counts as one at the start of
the answer, or at the start of a line outside code; an answer that only mentions the tag,
in code or in the middle of a line, stays as it is. A closing tag that nothing opened turns
what came before it into reasoning: some servers swallow the opening one.
"""

from __future__ import annotations

from providers.core.code_spans import CodeTracker
from providers.core.types import ReasoningDelta, TextDelta, Withdrawal

Piece = TextDelta | ReasoningDelta | Withdrawal

_NAMES = ("think", "thinking", "thought", "reasoning")
_OPENERS = tuple(f"<{name}>" for name in _NAMES)
_CLOSERS = tuple(f"</{name}>" for name in _NAMES)
_LONGEST = max(map(len, _CLOSERS))


class ReasoningSplitter:
    """Feed it deltas as they come; a tag may be cut anywhere between two of them."""

    def __init__(self) -> None:
        self._held = ""
        self._is_reasoning = False
        self._has_reasoned = False
        self._restart_text()

    def feed(self, text: str) -> list[Piece]:
        """What is certain after this delta. Blank space before the answer is dropped."""
        buffer, self._held = self._held + text, ""
        pieces: list[Piece] = []
        start = 0
        while start < len(buffer):
            opening = buffer.find("<", start)
            self._take(buffer[start : opening if opening >= 0 else None], pieces)
            if opening < 0:
                break
            tag, is_partial = self._tag_at(buffer, opening)
            if is_partial:
                self._held = buffer[opening:]
                break
            if tag:
                self._pass(tag, pieces)
            else:
                self._take("<", pieces)
            start = opening + max(len(tag), 1)
        return pieces

    def finish(self) -> list[Piece]:
        """What was held back because it might have become a tag."""
        pieces: list[Piece] = []
        held, self._held = self._held, ""
        self._take(held, pieces)
        return pieces

    def _tag_at(self, buffer: str, index: int) -> tuple[str, bool]:
        """The tag that counts at `index`, or "", and whether it may still become one."""
        tags = self._tags_that_count()
        rest = buffer[index : index + _LONGEST].lower()
        whole = next((tag for tag in tags if rest.startswith(tag)), "")
        return whole, not whole and any(tag.startswith(rest) for tag in tags)

    def _tags_that_count(self) -> tuple[str, ...]:
        if self._is_reasoning:
            return _CLOSERS
        if self._code.is_in_code:
            return ()
        openers = _OPENERS if self._code.is_at_line_start else ()
        return openers if self._has_reasoned else openers + _CLOSERS

    def _pass(self, tag: str, pieces: list[Piece]) -> None:
        is_orphan = tag in _CLOSERS and not self._is_reasoning
        if is_orphan and self._has_text:
            pieces.append(Withdrawal())
            self._restart_text()
        self._is_reasoning = tag in _OPENERS
        self._has_reasoned = True

    def _restart_text(self) -> None:
        self._has_text = False
        self._code = CodeTracker()

    def _take(self, text: str, pieces: list[Piece]) -> None:
        if self._is_reasoning:
            if text:
                pieces.append(ReasoningDelta(text))
            return
        if not self._has_text:
            text = text.lstrip()
        if text:
            self._has_text = True
            self._code.advance(text)
            pieces.append(TextDelta(text))
