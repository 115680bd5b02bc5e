"""Which vaults a command is about."""

from __future__ import annotations

from django.core.management.base import CommandError

from vault.models import Vault


def chosen_vaults(slugs: list[str]) -> list[Vault]:
    """The vaults of `slugs`, or all. Raises CommandError for one that is not there."""
    vaults = {
        vault.slug: vault
        for vault in Vault.objects.present().select_related(
            "embedding_model__provider", "next_embedding_model__provider"
        )
    }
    unknown = [slug for slug in slugs if slug not in vaults]
    if unknown:
        known = ", ".join(sorted(vaults)) or "none yet (add_vault)"
        raise CommandError(f"No vault “{unknown[0]}”. There are: {known}.", returncode=2)
    return [vaults[slug] for slug in slugs] if slugs else list(vaults.values())
