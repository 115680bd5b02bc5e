"""How long the passages are that notes are cut into."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PassageSizes:
    """In tokens: of a passage, of what it repeats of the one before, of the smallest one."""

    tokens: int
    overlap: int
    minimum: int
