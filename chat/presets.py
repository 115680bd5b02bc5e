"""Prompt presets of a user: which there are, and a question made from one."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib.auth.models import User
from django.http import Http404
from django.utils import timezone
from django.utils.formats import date_format

from chat.core.presets import Variable, fill_in, variables_of
from chat.models import PromptPreset


def presets_for(user: User) -> list[PromptPreset]:
    """What `user` may call, by name: of one name the own, else a group's, else the site's."""
    usable = PromptPreset.objects.usable_by(user).select_related("group", "owner")
    first: dict[str, PromptPreset] = {}
    for preset in sorted(usable, key=lambda each: (_distance(each, user), each.pk)):
        first.setdefault(preset.name.casefold(), preset)
    return sorted(first.values(), key=lambda each: each.name.casefold())


def usable_preset(user: User, pk: int) -> PromptPreset:
    """A preset that `user` may call. Raises Http404, alike for missing and foreign."""
    return _get(PromptPreset.objects.usable_by(user).filter(pk=pk).first())


def own_preset(user: User, pk: int) -> PromptPreset:
    """A preset that `user` may change. Raises Http404, alike for missing and foreign."""
    return _get(PromptPreset.objects.owned_by(user).filter(pk=pk).first())


def gaps_of(preset: PromptPreset) -> tuple[Variable, ...]:
    """The values that calling `preset` asks for."""
    return tuple(each for each in variables_of(preset.text) if not each.is_known)


def question_from(preset: PromptPreset, values: Mapping[str, str], *, selection: str = "") -> str:
    """The question that `preset` makes of `values`, with today's date and the marked text."""
    today = date_format(timezone.localdate(), "DATE_FORMAT")
    return fill_in(preset.text, {**values, "date": today, "selection": selection})


def _distance(preset: PromptPreset, user: User) -> int:
    if preset.owner_id == user.pk:
        return 0
    return 1 if preset.owner_id is not None else 2


def _get(preset: PromptPreset | None) -> PromptPreset:
    if preset is None:
        raise Http404("No such preset.")
    return preset
