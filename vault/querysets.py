"""Reads of the vault's tables, named as adjectives."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

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

    def at_work(self) -> JobQuerySet:
        """Running, with a worker that shows signs of life."""
        return self.filter(state="running", lease_until__gte=Now())

    def due(self, *, since: float = 0.0) -> JobQuerySet:
        """To be worked at: queued and its time has come, or left by a dead worker.

        `since`: for that many seconds already.
        """
        moment = Now() - timedelta(seconds=since)
        waiting = Q(state="queued") & (
            Q(run_after=None, created__lte=moment) | Q(run_after__lte=moment)
        )
        left = Q(state="running", lease_until__lt=moment)
        return self.filter(waiting | left)
