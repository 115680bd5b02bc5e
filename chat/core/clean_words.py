"""The words of a growing answer, as they are told: without marks that name no passage."""

from __future__ import annotations

from collections.abc import Iterable

import regex

from chat.core.blocks import hold_back
from chat.core.marks import fence_after, sure_of_index, sure_prefix, without_invented

# What a mark, or a part of a line in which none may stand, begins with.
_MAY_MATTER = regex.compile(r"[\[【［`$\\~]")


class CleanWords:
    """A growing answer without marks that name no passage; what is given out stays.

    A line that is not whole yet is given as far as it cannot change: an unfinished mark or
    link at its end is held back, and brackets behind code or a formula without an end.
    """

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._numbers = frozenset(numbers)
        self._line = ""
        self._given = 0
        self._fence = ""

    def push(self, text: str) -> str:
        """Add a piece; the words that can be given out now."""
        *lines, self._line = (self._line + text).split("\n")
        whole = "".join(self._close(line) for line in lines)
        safe = self._safe()
        new = safe[self._given :]
        self._given = max(self._given, len(safe))
        return whole + new

    def finish(self) -> str:
        """What was held back: the answer has ended."""
        rest = self._close(self._line).removesuffix("\n")
        self._line = ""
        return rest

    def _safe(self) -> str:
        """What of the line is sure. Most lines have nothing that a mark could begin with."""
        if self._fence:
            return self._line
        if _MAY_MATTER.search(self._line) is None:
            return self._line.rstrip(" \t")
        return self._clean(_safe_part(self._line))

    def _close(self, line: str) -> str:
        is_inside, self._fence = self._fence, fence_after(line, self._fence)
        whole = line if is_inside or self._fence else self._clean(line)
        rest = whole[self._given :] + "\n"
        self._given = 0
        return rest

    def _clean(self, line: str) -> str:
        return without_invented(line, numbers=self._numbers)


def _safe_part(line: str) -> str:
    """The beginning of an unfinished line that nothing to come can change."""
    # A bracket that stands before what is held back may belong to it: [[9].
    return sure_of_index(hold_back(sure_prefix(line)).rstrip(" \t[【［"))
