"""Whether a place in Markdown text that is still being written lies inside code."""

from __future__ import annotations

_FENCE = 3
_DEEPEST_INDENT = 3
_TAB = 4


class CodeTracker:
    """Moves through text character by character; pieces may be cut anywhere."""

    def __init__(self) -> None:
        self._fence = ""
        self._span = 0
        # Backticks or tildes that may go on with the next character.
        self._run = ""
        self._run_starts_line = False
        self._line_is_blank = True
        self._indent = 0

    @property
    def is_in_code(self) -> bool:
        """Whether the next character would be code."""
        if self._fence:
            return True
        if self._run.startswith("`"):
            return len(self._run) != self._span
        return self._span > 0

    @property
    def is_at_line_start(self) -> bool:
        """Whether the line holds nothing yet but an indent of at most three spaces."""
        return self._line_is_blank and self._indent <= _DEEPEST_INDENT

    def advance(self, text: str) -> None:
        """Move past `text`."""
        for char in text:
            self._step(char)

    def _step(self, char: str) -> None:
        if char in "`~" and (not self._run or char == self._run[0]):
            if not self._run:
                self._run_starts_line = self.is_at_line_start
            self._run += char
            self._line_is_blank = False
            return
        if self._run:
            self._end_run()
        if char == "\n":
            self._end_line()
        elif char in " \t" and self._line_is_blank:
            self._indent += _TAB if char == "\t" else 1
        else:
            self._line_is_blank = False

    def _end_line(self) -> None:
        if self._line_is_blank:
            # A span of code does not outlive its paragraph.
            self._span = 0
        self._line_is_blank, self._indent = True, 0

    def _end_run(self) -> None:
        run, self._run = self._run, ""
        if self._fence:
            if self._run_starts_line and run.startswith(self._fence):
                self._fence = ""
        elif self._run_starts_line and len(run) >= _FENCE and not self._span:
            self._fence = run
        elif run[0] == "`":
            self._span = self._span_after(len(run))

    def _span_after(self, length: int) -> int:
        if not self._span:
            return length
        return 0 if self._span == length else self._span
