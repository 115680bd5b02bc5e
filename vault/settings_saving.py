"""Saving a vault's settings so that nobody overwrites unseen what another owner saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core import signing
from django.db import transaction
from django.forms import model_to_dict
from django.utils.translation import gettext as _

from vault.models import Vault
from vault.settings_forms import VaultSettingsForm

_SALT = "vault.settings"


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting that changed since the page was opened: as stored now, and as typed."""

    label: str
    now: str
    typed: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """What saving would overwrite. `stamp` is of what is told here: saving with it does so."""

    differences: tuple[Difference, ...]
    stamp: str


def stamp_of(form: VaultSettingsForm, vault: Vault) -> str:
    """What `form` shows of `vault` as it is stored, for a hidden field: signed, not secret."""
    return signing.dumps(_stored(form, vault), salt=_SALT, compress=True)


def conflict_of(form: VaultSettingsForm, *, stamp: str, vault: Vault) -> Conflict | None:
    """What a valid `form`, opened when `stamp` was made, would overwrite of `vault` as it is
    stored now. What was typed alike on both sides is none. Without a readable stamp nobody
    knows what was seen: then each setting that differs counts."""
    try:
        seen: dict[str, Any] = signing.loads(stamp, salt=_SALT)
    except signing.BadSignature:
        seen = {}
    now = _stored(form, vault)
    lost = [
        name
        for name, value in now.items()
        if (name not in seen or seen[name] != value) and form.cleaned_data[name] != value
    ]
    differences = tuple(
        Difference(str(form.fields[name].label), _told(now[name]), _told(form.cleaned_data[name]))
        for name in lost
    )
    return Conflict(differences, stamp_of(form, vault)) if differences else None


def save_settings(form: VaultSettingsForm, *, stamp: str) -> Conflict | None:
    """Save a valid `form`, or nothing and say what it would overwrite: see conflict_of."""
    with transaction.atomic():
        # Locked: of two that save at the same moment the second sees what the first wrote.
        stored = Vault.objects.select_for_update().get(pk=form.instance.pk)
        conflict = conflict_of(form, stamp=stamp, vault=stored)
        if conflict is None:
            form.save()
    return conflict


def _stored(form: VaultSettingsForm, vault: Vault) -> dict[str, Any]:
    return model_to_dict(vault, fields=list(form.fields))


def _told(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return str(value)
