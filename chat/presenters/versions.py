"""The versions of a question or an answer, and which of them is shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Versions:
    """Messages in one place of the tree, oldest first, and which of them is shown."""

    shown: str
    all: tuple[str, ...]

    @property
    def nth(self) -> int:
        return self.all.index(self.shown) + 1

    @property
    def earlier(self) -> str:
        return self.all[self.nth - 2] if self.nth > 1 else ""

    @property
    def later(self) -> str:
        return self.all[self.nth] if self.nth < len(self.all) else ""


def versions_in(shown: str, place: list[str]) -> Versions | None:
    """None where there is only one: nothing is to be chosen."""
    return Versions(shown, tuple(place)) if len(place) > 1 else None
