"""Reads of the vault's tables, named as adjectives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from vault.core.types import Scope
    from vault.models import Job, Note, Vault  # noqa: F401


class VaultQuerySet(models.QuerySet["Vault"]):
    pass


class NoteQuerySet(models.QuerySet["Note"]):
    def in_scope(self, scope: Scope) -> NoteQuerySet:
        """Notes of the vaults in `scope`."""
        return self.filter(vault_id__in=scope.vault_ids)


class JobQuerySet(models.QuerySet["Job"]):
    def open(self) -> JobQuerySet:
        """Queued or running."""
        return self.filter(state__in=["queued", "running"])
