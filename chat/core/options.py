"""Who decides what: a question's own choice, the user's, the vault's, the site's, the product's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from chat.core.tool_use import DEFAULT_STEPS, MOST_STEPS, permission

T = TypeVar("T")

DEFAULT_MODE = "notes_first"
DEFAULT_FOLLOW_UPS = "notes"
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
    adds_sources: bool | None = None
    follow_ups: str | None = None
    shares_unanswered: bool | None = None
    tool_use: str | None = None
    tool_steps: int | None = None
    tool_limit: str | None = None


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
    adds_sources: bool
    follow_ups: str
    shares_unanswered: bool
    tool_use: str
    tool_steps: int


@dataclass(frozen=True, slots=True)
class Picked(Generic[T]):
    """The model that answers, and what the reader should know about the choice."""

    model: T
    notice: str = ""


@dataclass(frozen=True, slots=True)
class VaultDefaults:
    """What a vault's own settings file chooses, by the names that stand there."""

    vault_id: int
    vault_name: str
    provider: str = ""
    model: str = ""
    system_prompt: str = ""


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """A model that can answer: the site's (`vault_id` None), or one that a vault brings."""

    id: int
    provider: str
    name: str
    is_default: bool = False
    vault_id: int | None = None


@dataclass(frozen=True, slots=True)
class VaultLevel:
    """What the vaults of a question choose, of which vault each choice is, and what the
    reader should know when one cannot be had."""

    choices: Choices = Choices()
    model_of: str = ""
    prompt_of: str = ""
    notice: str = ""


def vault_level(vaults: Sequence[VaultDefaults], offered: Sequence[OfferedModel]) -> VaultLevel:
    """The level of the vaults that a question searches: the first that chooses holds."""
    by_model = next((it for it in vaults if it.model or it.provider), None)
    by_prompt = next((it for it in vaults if it.system_prompt), None)
    model = _default_of(by_model, offered) if by_model else None
    notice = ""
    if by_model and model is None:
        wanted = by_model.model or by_model.provider
        notice = (
            f"The vault “{by_model.vault_name}” asks for “{wanted}”, which cannot be used here now."
        )
    return VaultLevel(
        Choices(
            model=model.id if model else None,
            system_prompt=by_prompt.system_prompt if by_prompt else None,
        ),
        model_of=by_model.vault_name if by_model and model else "",
        prompt_of=by_prompt.vault_name if by_prompt else "",
        notice=notice,
    )


def _default_of(vault: VaultDefaults, offered: Sequence[OfferedModel]) -> OfferedModel | None:
    """Its own models come before the site's; of a provider alone, the default one first."""
    fitting = [
        model
        for model in offered
        if model.vault_id in {None, vault.vault_id}
        and vault.provider in {"", model.provider}
        and vault.model in {"", model.name}
    ]
    fitting.sort(
        key=lambda it: (
            (it.vault_id is None, not it.is_default)
            if vault.model
            else (not it.is_default, it.vault_id is None)
        )
    )
    return fitting[0] if fitting else None


def resolve(*levels: Choices, base_prompt: str, tool_limits: Iterable[str | None] = ()) -> Resolved:
    """Merge `levels`, most important first: asked, user, vault, site.

    Numbers are kept in range, and further searches within every one of `tool_limits`.
    """
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
        adds_sources=_first(level.adds_sources for level in levels) is not False,
        follow_ups=_first(level.follow_ups for level in levels) or DEFAULT_FOLLOW_UPS,
        shares_unanswered=_first(level.shares_unanswered for level in levels) is not False,
        tool_use=permission((level.tool_use for level in levels), limits=tool_limits),
        tool_steps=min(
            max(_first(level.tool_steps for level in levels) or DEFAULT_STEPS, 1), MOST_STEPS
        ),
    )


def pick_model(
    wanted: Sequence[int],
    *,
    available: Iterable[tuple[int, T]],
    default: T,
    labels: Mapping[int, str],
    vaults: Mapping[int, str] | None = None,
) -> Picked[T]:
    """The first of `wanted` that is available, else `default`; a switch is never silent.

    `labels` names models that are known but not available now; `vaults` those of them that
    belong to a vault which the question does not search, with the vault's name.
    """
    by_id = dict(available)
    for model_id in wanted:
        if model_id in by_id:
            model = by_id[model_id]
            break
    else:
        model_id, model = 0, default
    if not wanted or model_id == wanted[0]:
        return Picked(model)
    return Picked(model, _notice(wanted[0], model, labels, vaults or {}))


def _notice(
    wanted: int, model: object, labels: Mapping[int, str], vaults: Mapping[int, str]
) -> str:
    name = labels.get(wanted)
    missing = f"The chosen model “{name}”" if name else "The chosen model"
    if vault := vaults.get(wanted):
        return (
            f"{missing} belongs to the vault “{vault}”, which this question does not search, "
            f"so {model} answered. Choose another model, or ask that vault."
        )
    return (
        f"{missing} is not available now, so {model} answered. Choose another in the "
        "settings, or ask an admin to set its provider's key; your choice is kept."
    )


def _first(values: Iterable[T | None]) -> T | None:
    """The first value that was chosen: neither None nor an empty text."""
    return next((value for value in values if value is not None and value != ""), None)
