"""The personas that a user may choose: the site's, and those in files of readable vaults."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.core.personas import (
    LONGEST_REASON,
    ParsedPersona,
    faults_in,
    line_of,
    parse_persona,
)
from chat.models import Persona
from providers.models import ChatModel
from vault.access import visible_to
from vault.core.file_kinds import PERSONAS_FOLDER
from vault.core.settings_json import SettingsProblem
from vault.models import SettingsFile, Vault
from vault.settings_files import list_about_site


def personas_for(user: User) -> list[Persona]:
    """What `user` may choose now: the site's by name, then those of each vault.

    Losing the right to a vault takes its personas away with it.
    """
    if not user.is_active:
        return []
    readable = visible_to(user)
    _keep_up(readable)
    mine = Q(settings_file=None) | Q(settings_file__vault__in=readable.values("pk"))
    found = Persona.objects.filter(mine, enabled=True).select_related("settings_file__vault")
    return sorted(found, key=lambda each: (each.place.lower(), each.place, each.name, each.pk))


def persona_for(user: User, pk: int | None) -> Persona | None:
    """The persona `pk` when `user` may choose it now, with the model and vaults of now."""
    found = next((each for each in personas_for(user) if each.pk == pk), None) if pk else None
    if found is None or found.settings_file is None:
        return found
    parsed = parse_persona(found.settings_file.text, path=found.settings_file.path)
    return _keep(found.settings_file, parsed) if parsed else None


def searched_with(persona: Persona) -> tuple[str, ...] | None:
    """Slugs of the vaults that `persona` searches by itself; None: all that may be read."""
    slugs = set(persona.vaults.values_list("slug", flat=True))
    if persona.settings_file:
        slugs.add(persona.settings_file.vault.slug)
    return tuple(sorted(slugs)) or None


def notices_of(persona: Persona, user: User) -> list[str]:
    """What of a persona's wishes did not hold for an answer to `user`, a sentence each."""
    file = persona.settings_file
    readable = set(visible_to(user).values_list("slug", flat=True))
    if file is None:
        faults = _faults_of_row(persona, readable)
    else:
        parsed = parse_persona(file.text, path=file.path)
        found = _faults(file, parsed)
        faults = [each["reason"] for each in found if each.get("names_vault") not in readable]
    return [
        _("The persona “%(name)s” is not whole. %(fault)s") % {"name": persona.name, "fault": fault}
        for fault in faults
    ]


def take_over(*, vault: Vault, **_signal: object) -> None:
    """After a sync: the personas as the vault's files have them, and what is wrong with them.

    Models and vaults may have come or gone since, so every file is looked at again.
    """
    for file in _files_of(Vault.objects.filter(pk=vault.pk)).select_related("vault"):
        parsed = parse_persona(file.text, path=file.path)
        if parsed is None:
            Persona.objects.filter(settings_file=file).delete()
        else:
            _keep(file, parsed)
        is_unread = not file.text and bool(file.problems)
        list_about_site(file, [] if is_unread else _faults(file, parsed))


def _faults_of_row(persona: Persona, readable: Collection[str]) -> list[str]:
    """Of one that admins made: only its vaults may be out of reach; a model that is gone is
    told by whoever picks one."""
    slugs = set(persona.vaults.values_list("slug", flat=True))
    missing = len(slugs - set(readable))
    if not missing:
        return []
    return [
        ngettext(
            "You may not read %(missing)s of its %(all)s vault: you get nothing of it.",
            "You may not read %(missing)s of its %(all)s vaults: you get nothing of them.",
            len(slugs),
        )
        % {"missing": missing, "all": len(slugs)}
    ]


def _files_of(vaults: QuerySet[Vault]) -> QuerySet[SettingsFile]:
    folder = f"{PERSONAS_FOLDER}/"
    return SettingsFile.objects.filter(
        vault__in=vaults, path__startswith=folder, path__endswith=".md"
    )


def _keep_up(vaults: QuerySet[Vault]) -> None:
    """Bring the rows of vaults' files in line with what the last sync read of them."""
    stale = _files_of(vaults).exclude(persona__content_hash=F("content_hash"))
    for file in stale.select_related("vault"):
        parsed = parse_persona(file.text, path=file.path)
        if parsed is None:
            Persona.objects.filter(settings_file=file).delete()
        else:
            _keep(file, parsed)


@transaction.atomic
def _keep(file: SettingsFile, parsed: ParsedPersona) -> Persona:
    """The row of a file, changed where it differs."""
    wanted = {
        "name": parsed.name,
        "role": parsed.role,
        "prompt": parsed.prompt,
        "model": _model(file, parsed.model),
        "tool_use": parsed.tool_use,
        "tools": None if parsed.tools is None else list(parsed.tools),
        "content_hash": file.content_hash,
    }
    persona, is_new = Persona.objects.select_related("settings_file__vault", "model").get_or_create(
        settings_file=file, defaults=wanted
    )
    if not is_new and any(getattr(persona, name) != value for name, value in wanted.items()):
        for name, value in wanted.items():
            setattr(persona, name, value)
        persona.save(update_fields=list(wanted))
    persona.vaults.set(Vault.objects.present().filter(slug__in=parsed.vaults))
    return persona


def _model(file: SettingsFile, name: str) -> ChatModel | None:
    """The model called `name`, alone or behind its provider: the vault's own before the site's."""
    if not name:
        return None
    places = Q(of_vault=None) | Q(of_vault=file.vault_id)
    offered = ChatModel.objects.filter(places, enabled=True, provider__enabled=True)
    own_first = offered.order_by(F("of_vault").asc(nulls_last=True), "pk")
    found = own_first.filter(name=name).first()
    slug, _slash, rest = name.removesuffix(f"@{file.vault.slug}").partition("/")
    return found or own_first.filter(provider__slug=slug, name=rest).first()


def _faults(file: SettingsFile, parsed: ParsedPersona | None) -> list[dict[str, Any]]:
    """What is wrong with a file, as its row keeps it.

    Of a vault it names, each reader is told that it is none only if they may not read it, and
    never its name: so nobody learns which vaults there are.
    """
    faults = [asdict(fault) for fault in faults_in(file.text, path=file.path)]
    if parsed is None:
        return faults
    if parsed.model and _model(file, parsed.model) is None:
        reason = f"“{parsed.model}” is no model that is offered here: it answers with others."
        mend = "Write a name as /v1/models lists it under “model”, or take the line out."
        line = line_of(file.text, "model")
        faults.append(asdict(SettingsProblem(reason[:LONGEST_REASON], mend, line)))
    for nth, slug in enumerate(parsed.vaults, start=1):
        reason = f"Number {nth} of “vaults” is no vault that you may read: you get nothing of it."
        mend = "Write the slug of a vault there, or ask its owner to let you read it."
        fault = asdict(SettingsProblem(reason, mend, line_of(file.text, "vaults")))
        faults.append(fault | {"names_vault": slug})
    return faults
