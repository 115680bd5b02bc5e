"""Reads of the vault's tables, named as adjectives."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable
from datetime import timedelta
from functools import reduce
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

if TYPE_CHECKING:
    from vault.core.types import Scope
    from vault.models import Job, Note, Vault  # noqa: F401


class VaultQuerySet(models.QuerySet["Vault"]):
    def present(self) -> VaultQuerySet:
        """All but those that were deleted and wait for their removal."""
        return self.exclude(state__in=["deleted", "removing"])


class VaultManager(models.Manager["Vault"]):
    """Vaults of people: without the copies that trials make for a while."""

    def get_queryset(self) -> VaultQuerySet:
        return VaultQuerySet(self.model, using=self._db).exclude(state="trial")

    def present(self) -> VaultQuerySet:
        """See VaultQuerySet."""
        return self.get_queryset().present()


class NoteQuerySet(models.QuerySet["Note"]):
    def in_scope(self, scope: Scope) -> NoteQuerySet:
        """Notes of the vaults in `scope`, in the folders that it opens."""
        notes = self.filter(vault_id__in=scope.vault_ids)
        return notes.filter(in_open_folders(scope)) if scope.rules else notes


def in_open_folders(scope: Scope, *, path: str = "path") -> Q:
    """A condition on rows with a `vault_id` and the column `path`: in a folder that the
    rules of `scope` open, or in a vault that has none."""
    opened = ~Q(vault_id__in={rule.vault_id for rule in scope.rules})
    for rule in scope.rules:
        condition = Q(vault_id=rule.vault_id)
        if rule.only:
            condition &= _under(rule.only, path)
        if rule.never:
            condition &= ~_under(rule.never, path)
        opened |= condition
    return opened


def folder_condition(scope: Scope) -> tuple[str, dict[str, Any]]:
    """As in_open_folders, for a statement: a condition on the note `n`, and its values."""
    if not scope.rules:
        return "TRUE", {}
    rules = [
        {"vault_id": rule.vault_id, "opened": rule.only, "closed": rule.never}
        for rule in scope.rules
    ]
    return _OPENED, {"folder_rules": json.dumps(rules)}


_OPENED = """(
    n.vault_id NOT IN (
        SELECT rule.vault_id
        FROM jsonb_to_recordset(%(folder_rules)s::jsonb) AS rule(vault_id bigint)
    )
    OR EXISTS (
        SELECT 1 FROM jsonb_to_recordset(%(folder_rules)s::jsonb)
            AS rule(vault_id bigint, opened jsonb, closed jsonb)
        WHERE rule.vault_id = n.vault_id
        AND (jsonb_array_length(rule.opened) = 0 OR EXISTS (
            SELECT 1 FROM jsonb_array_elements_text(rule.opened) AS folder
            WHERE n.path = folder OR starts_with(n.path, folder || '/')
        ))
        AND NOT EXISTS (
            SELECT 1 FROM jsonb_array_elements_text(rule.closed) AS folder
            WHERE n.path = folder OR starts_with(n.path, folder || '/')
        )
    )
)"""


def _under(folders: Iterable[str], path: str) -> Q:
    named = (Q(**{path: folder}) | Q(**{f"{path}__startswith": f"{folder}/"}) for folder in folders)
    return reduce(operator.or_, named)


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
