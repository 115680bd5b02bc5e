"""The personas that a user may choose: the site's, and those in files of readable vaults."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q, QuerySet

from chat.core.personas import ParsedPersona, parse_persona
from chat.models import Persona
from providers.models import ChatModel
from vault.access import visible_to
from vault.core.file_kinds import PERSONAS_FOLDER
from vault.models import SettingsFile, Vault


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
    return sorted(found, key=lambda each: (each.place, each.name, each.pk))


def persona_for(user: User, pk: int | None) -> Persona | None:
    """The persona `pk` when `user` may choose it now."""
    return next((each for each in personas_for(user) if each.pk == pk), None) if pk else None


def searched_with(persona: Persona) -> tuple[str, ...] | None:
    """Slugs of the vaults that `persona` searches by itself; None: all that may be read."""
    slugs = set(persona.vaults.values_list("slug", flat=True))
    if persona.settings_file:
        slugs.add(persona.settings_file.vault.slug)
    return tuple(sorted(slugs)) or None


def _keep_up(vaults: QuerySet[Vault]) -> None:
    """Bring the rows of vaults' files in line with what the last sync read of them."""
    files = SettingsFile.objects.filter(vault__in=vaults, path__startswith=f"{PERSONAS_FOLDER}/")
    stale = files.exclude(persona__content_hash=F("content_hash"))
    for file in stale.filter(path__endswith=".md"):
        parsed = parse_persona(file.text, path=file.path)
        if parsed is None:
            Persona.objects.filter(settings_file=file).delete()
        else:
            _keep(file, parsed)


@transaction.atomic
def _keep(file: SettingsFile, parsed: ParsedPersona) -> None:
    offered = ChatModel.objects.filter(Q(of_vault=None) | Q(of_vault=file.vault_id), enabled=True)
    model = offered.filter(name=parsed.model).first() if parsed.model else None
    persona, _made = Persona.objects.update_or_create(
        settings_file=file,
        defaults={
            "name": parsed.name,
            "role": parsed.role,
            "prompt": parsed.prompt,
            "model": model,
            "tool_use": parsed.tool_use,
            "tools": None if parsed.tools is None else list(parsed.tools),
            "content_hash": file.content_hash,
        },
    )
    persona.vaults.set(Vault.objects.filter(slug__in=parsed.vaults))
