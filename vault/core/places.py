"""Places in a note as pointers name them: `120-151.3fa9`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2s

_PLACE = re.compile(r"(\d{1,12})-(\d{1,12})(?:\.([0-9a-f]{4}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Place:
    """Characters `start..end` of a body. `check` tells whether their text is still the one
    that was pointed at; empty: nobody asks."""

    start: int
    end: int
    check: str = ""

    def __str__(self) -> str:
        return f"{self.start}-{self.end}" + (f".{self.check}" if self.check else "")

    def is_in(self, body: str) -> bool:
        """Whether `body` has this place, with the text that was pointed at."""
        if not self.start < self.end <= len(body):
            return False
        return self.check in ("", check_of(body[self.start : self.end]))


def place_of(text: str, start: int) -> Place:
    """The place of `text`, which begins at character `start` of its note's body."""
    return Place(start, start + len(text), check_of(text))


def read_place(written: str) -> Place | None:
    """The place that a pointer names; None when it is none."""
    found = _PLACE.fullmatch(written.strip())
    return Place(int(found[1]), int(found[2]), found[3] or "") if found else None


def check_of(text: str) -> str:
    """Four characters that nearly always differ when a text does."""
    return blake2s(text.encode(errors="surrogatepass"), digest_size=2).hexdigest()
