"""What a turn says while it goes on, to whoever writes it down."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from chat.core.citations import Quotable
from chat.core.events import EventType
from chat.core.support import Meanings
from providers.core.types import Usage
from providers.models import ChatModel

Abstain = Callable[[str], Awaitable[str]]
"""What is kept in place of an answer that no passage bears out."""


@dataclass(frozen=True, slots=True)
class Said:
    """An event of the turn, ready but for its number."""

    type: EventType
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sourced:
    """`sources`, and the passages that the words to come may cite.

    `adds_marks`: an answer without a citation gets those that its sentences bear out.
    `meanings` compares what words do not decide when the answer ends. With `abstain` an
    answer that no passage bears out is none.
    """

    data: dict[str, Any]
    quotables: tuple[Quotable, ...]
    adds_marks: bool = False
    meanings: Meanings | None = None
    abstain: Abstain | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """All words so far were the model's reasoning, or led to a search: they are no part of
    the answer."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The model ended of its own accord. `named_by` may name the conversation now."""

    usage: Usage
    named_by: ChatModel | None = None


TurnPart = Said | Sourced | Words | Withdrawn | Finished
