"""What a link of a note may lead to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where a link leads: a page of a note, or a picture of the vault."""

    url: str
    title: str = ""
    is_image: bool = False


class Resolve(Protocol):
    """Finds what a link means. None: nothing that this reader may see."""

    def __call__(self, target: str, *, is_embed: bool) -> Resolved | None: ...


class ShowEmbedded(Protocol):
    """HTML of the part of a note that an embed shows. Empty: nothing to show."""

    def __call__(self, target: str, anchor: str) -> str: ...


def resolve_nothing(target: str, *, is_embed: bool) -> Resolved | None:
    """For texts whose links lead nowhere in a vault, such as answers."""
    return None
