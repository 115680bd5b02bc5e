"""From character offsets to lines and back."""

from __future__ import annotations

from bisect import bisect_right


class LineMap:
    """Where each line of a text begins. Lines end with LF and nothing else."""

    def __init__(self, text: str) -> None:
        self.starts = [0]
        position = text.find("\n")
        while position >= 0:
            self.starts.append(position + 1)
            position = text.find("\n", position + 1)
        self._length = len(text)

    def line_at(self, offset: int) -> int:
        """Number, from 1, of the line that holds a character."""
        return bisect_right(self.starts, offset)

    def start_of(self, index: int) -> int:
        """Offset of the line with this index, from 0; the end of the text for later ones."""
        return self.starts[index] if index < len(self.starts) else self._length
