"""How far a model may go on its own: whose word counts, how many steps, how much to read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from chat.core.asking import TOOL_USES
from chat.core.tools import NAMES, TOOLS, CallRefused, Wanted, read_call
from providers.core.types import ToolCall, ToolSpec

PERMISSIONS = TOOL_USES
"""From the strictest on: no further searches, each after the reader's word, freely."""
NEVER, ASK, AUTO = PERMISSIONS

DEFAULT_STEPS, MOST_STEPS = 4, 12
# What all steps together may bring, in tokens, and the part of the model's window it may take.
MOST_TOKENS = 6_000
PART_OF_WINDOW = 4
# With less room than this a passage is a scrap that answers nothing.
LEAST_TOKENS = 120


def permission(chosen: Iterable[str | None], *, limits: Iterable[str | None]) -> str:
    """The first of `chosen` that says something, as far as every one of `limits` lets it.

    Nobody's word is "never": one search a question is what people pay for unasked.
    """
    wanted = next((each for each in chosen if each), NEVER)
    bounds = [each for each in limits if each]
    return min([wanted, *bounds], key=PERMISSIONS.index)


def tokens_for(window: int) -> int:
    """What the results of all steps may take of a window of so many tokens."""
    return min(MOST_TOKENS, window // PART_OF_WINDOW)


@dataclass(frozen=True, slots=True)
class ToolRules:
    """What holds for one answer. `names` are the tools that may be called.

    `tokens` bound what all results together may take; `patience` is how many seconds the
    reader is waited for before a step counts as refused.
    """

    permission: str = NEVER
    names: tuple[str, ...] = ()
    steps: int = DEFAULT_STEPS
    tokens: int = MOST_TOKENS
    patience: float = 120.0

    @property
    def are_tools_offered(self) -> bool:
        return self.permission != NEVER and bool(self.names) and self.steps > 0

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as the model is told of them."""
        if not self.are_tools_offered:
            return ()
        return tuple(TOOLS[name].spec for name in NAMES if name in self.names)


NO_TOOL_USE = ToolRules()


def rules_left(rules: ToolRules, *, taken: int, was_refused: bool) -> ToolRules:
    """What `rules` still allow an answer that goes on after `taken` steps of its beginning.

    A refusal holds for the whole answer, however often it goes on.
    """
    left = 0 if was_refused else max(rules.steps - taken, 0)
    return replace(rules, steps=left) if left else NO_TOOL_USE


def allowed_names(listed: Sequence[str] | None) -> tuple[str, ...]:
    """The tools of a list of names, which may hold those of other programs; None: all."""
    return NAMES if listed is None else tuple(name for name in NAMES if name in listed)


class ToolLoop:
    """What is left of the rules while an answer is written."""

    def __init__(self, rules: ToolRules) -> None:
        self.rules = rules
        self.tokens_left = rules.tokens
        self.asks = rules.permission == ASK
        self._steps_left = rules.steps if rules.are_tools_offered else 0
        self._ended = ""
        self._seen: set[tuple[object, ...]] = set()

    @property
    def may_call(self) -> bool:
        """Whether the model is offered its tools in the next call."""
        return not self._why_not()

    def take(self, call: ToolCall) -> Wanted:
        """What `call` asks for, as one step. Raises CallRefused.

        A call that makes no sense is a step as well, so that no model asks for ever.
        """
        if why := self._why_not():
            raise CallRefused(why)
        self._steps_left -= 1
        wanted = read_call(call, allowed=self.rules.names)
        if wanted.essence in self._seen:
            raise CallRefused("You asked for exactly this before: its passages stand above.")
        self._seen.add(wanted.essence)
        return wanted

    def spend(self, tokens: int) -> None:
        """A result of so many tokens was told."""
        self.tokens_left -= tokens

    def end(self, why: str) -> None:
        """Nothing more may be called, for a reason that the model is told."""
        self._ended = why

    def _why_not(self) -> str:
        if self._ended:
            return self._ended
        if self._steps_left <= 0:
            return "No more searches are left for this answer. Answer now."
        if self.tokens_left < LEAST_TOKENS:
            return "No more searches: there is no room for more passages. Answer now."
        return ""
