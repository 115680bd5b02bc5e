"""What the question field offers while something is typed into it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth.models import User

from chat.core.presets import variables_of
from chat.models import PromptPreset
from chat.personas import personas_for
from chat.presets import presets_for
from vault.access import scope_for
from vault.completion import MOST_OFFERED, Offer, folders_like, notes_like, tags_like
from vault.core.types import Scope

LONGEST_ASKED = 100  # characters


@dataclass(frozen=True, slots=True)
class Offered:
    """`value` goes into the field; `id` names a preset or a persona; `asks`: it has gaps."""

    value: str
    label: str
    detail: str = ""
    id: str = ""
    asks: bool = False


def offers_for(kind: str, text: str, user: User, *, vaults: list[str] | None) -> list[Offered]:
    """At most MOST_OFFERED things of `kind` that hold `text`, of what `user` may see.

    `kind` is one of KINDS; ValueError otherwise. `vaults` are the slugs that are chosen.
    """
    typed = " ".join(text.replace("\x00", "").split())[:LONGEST_ASKED]
    if kind == "preset":
        return _presets(typed, user)
    if kind == "persona":
        return _personas(typed, user)
    if kind not in _IN_NOTES:
        raise ValueError(f"“kind” must be one of {', '.join(KINDS)}.")
    look_up, form = _IN_NOTES[kind]
    found = look_up(typed, scope_for(user, vaults))
    return [Offered(form.format(each.value), each.value, each.detail) for each in found]


def _presets(typed: str, user: User) -> list[Offered]:
    return [
        Offered(preset.text, f"/{preset.name}", preset.title, str(preset.pk), _asks(preset))
        for preset in presets_for(user)
        if _holds(typed, preset.name, preset.title)
    ][:MOST_OFFERED]


def _personas(typed: str, user: User) -> list[Offered]:
    return [
        Offered(persona.name, persona.name, persona.role, str(persona.pk))
        for persona in personas_for(user)
        if _holds(typed, persona.name, persona.role)
    ][:MOST_OFFERED]


def _holds(typed: str, *texts: str) -> bool:
    return any(typed.casefold() in text.casefold() for text in texts)


def _asks(preset: PromptPreset) -> bool:
    """Whether its text alone is not the question yet."""
    return bool(variables_of(preset.text))


_IN_NOTES: dict[str, tuple[Callable[[str, Scope], list[Offer]], str]] = {
    "tag": (tags_like, "#{}"),
    "path": (folders_like, 'path:"{}"'),
    "note": (notes_like, "[[{}]]"),
}
KINDS = ("preset", "persona", *_IN_NOTES)
