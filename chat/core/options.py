"""Who decides what: a question's own choice, the user's, the site's, the product's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

DEFAULT_MODE = "notes_first"
FEWEST_PASSAGES, MOST_PASSAGES = 1, 30


@dataclass(frozen=True, slots=True)
class Choices:
    """What one level chose. None or an empty text: left to the next level."""

    model: int | None = None
    persona: int | None = None
    system_prompt: str | None = None
    mode: str | None = None
    passages: int | None = None
    alternates: bool | None = None
    rerank: bool | None = None


@dataclass(frozen=True, slots=True)
class Resolved:
    """What holds for one turn, after every level was asked.

    `models` are the model choices of all levels, the most important first: the first that
    is available answers, and the reader is told when it is not the first of them.
    """

    models: tuple[int, ...]
    persona: int | None
    system_prompt: str
    mode: str
    passages: int | None
    alternates: bool | None
    rerank: bool | None


@dataclass(frozen=True, slots=True)
class Picked(Generic[T]):
    """The model that answers, and what the reader should know about the choice."""

    model: T
    notice: str = ""


def resolve(*levels: Choices, base_prompt: str) -> Resolved:
    """Merge `levels`, most important first: asked, user, site. Numbers are kept in range."""
    passages = _first(level.passages for level in levels)
    if passages is not None:
        passages = min(max(passages, FEWEST_PASSAGES), MOST_PASSAGES)
    models = [level.model for level in levels if level.model is not None]
    return Resolved(
        models=tuple(dict.fromkeys(models)),
        persona=_first(level.persona for level in levels),
        system_prompt=_first(level.system_prompt for level in levels) or base_prompt,
        mode=_first(level.mode for level in levels) or DEFAULT_MODE,
        passages=passages,
        alternates=_first(level.alternates for level in levels),
        rerank=_first(level.rerank for level in levels),
    )


def pick_model(
    wanted: Sequence[int], *, available: Iterable[tuple[int, T]], default: T, labels: dict[int, str]
) -> Picked[T]:
    """The first of `wanted` that is available, else `default`; a switch is never silent.

    `labels` names models that are known but not available now.
    """
    by_id = dict(available)
    for model_id in wanted:
        if model_id in by_id:
            return Picked(by_id[model_id], _notice(wanted[0], by_id[model_id], model_id, labels))
    if not wanted:
        return Picked(default)
    return Picked(default, _notice(wanted[0], default, None, labels))


def _notice(wanted: int, model: object, model_id: int | None, labels: dict[int, str]) -> str:
    if wanted == model_id:
        return ""
    name = labels.get(wanted)
    missing = f"The chosen model “{name}”" if name else "The chosen model"
    return (
        f"{missing} is not available now, so {model} answered. Choose another in the "
        "settings, or ask an admin to set its provider's key; your choice is kept."
    )


def _first(values: Iterable[T | None]) -> T | None:
    """The first value that was chosen: neither None nor an empty text."""
    return next((value for value in values if value is not None and value != ""), None)
