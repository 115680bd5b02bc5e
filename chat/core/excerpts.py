"""The place in a text where searched words stand, with a little around it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

BEFORE, LENGTH = 40, 160
_CITATION = re.compile(r"\s?\[\d{1,3}(?:\s?[,–-]\s?\d{1,3})*\]")
_MARKS = re.compile(r"[*`#>|~]+|^\s*[-+]\s+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Pieces of text; every second one, from the second on, is what was looked for."""

    pieces: tuple[str, ...]

    @property
    def marked(self) -> list[tuple[str, bool]]:
        """Each piece, and whether it was looked for."""
        return [(piece, nth % 2 == 1) for nth, piece in enumerate(self.pieces) if piece]


def excerpt(text: str, words: Sequence[str]) -> Excerpt:
    """About LENGTH characters of `text`, without Markdown's marks, around the first of `words`.

    Where none of them stands (a slip was looked past), the beginning.
    """
    plain = " ".join(_MARKS.sub(" ", _CITATION.sub("", text)).split())
    pattern = re.compile("|".join(re.escape(word) for word in words) or r"\Z", re.IGNORECASE)
    first = pattern.search(plain)
    start = max(0, first.start() - BEFORE) if first and first.group() else 0
    if start:
        start = plain.rfind(" ", 0, start) + 1
    cut = plain[start : start + LENGTH]
    pieces: list[str] = []
    at = 0
    for match in pattern.finditer(cut):
        if match.group():
            pieces += [cut[at : match.start()], match.group()]
            at = match.end()
    pieces.append(cut[at:] + ("…" if start + LENGTH < len(plain) else ""))
    pieces[0] = ("…" if start else "") + pieces[0]
    return Excerpt(tuple(pieces))
