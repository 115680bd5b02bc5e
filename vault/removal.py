"""A vault that is deleted: hidden at once, brought back while there is time, then removed.

What is removed is what this installation made of the vault's files. The files of a server
folder or a repository are never touched.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import structlog
from auditlog.context import disable_auditlog
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from vault.core.names import lookup_key
from vault.counting import in_time
from vault.locks import Work, only_one
from vault.models import (
    Chunk,
    ChunkVector,
    Job,
    LexemeFrequency,
    Link,
    Note,
    NoteVector,
    Vault,
    VaultMember,
)
from vault.trial_copies import copies_left
from vault.uploads import discard_upload

log = structlog.get_logger(__name__)

# How long a deleted vault can be brought back.
UNDO_TIME = timedelta(minutes=15)
# Rows at a time, with what hangs on them: a quarter of a second on a busy machine (42,000
# rows took 21 s), so that nobody waits long behind one step.
BATCH = 500

OnProgress = Callable[[int], None]


class RemovalRefused(Exception):
    """`str()` says why, and what to do instead."""


@dataclass(frozen=True, slots=True)
class Loss:
    """What is lost with a vault; None while counting takes too long."""

    notes: int | None
    passages: int | None
    members: int


def loss_of(vault: Vault) -> Loss:
    """What deleting `vault` takes away."""
    return Loss(
        notes=in_time(Note.objects.filter(vault=vault).count),
        passages=in_time(Chunk.objects.filter(vault=vault).count),
        members=VaultMember.objects.filter(vault=vault).count(),
    )


@transaction.atomic
def delete_vault(vault_id: int, *, typed: str) -> Vault:
    """Hide a vault from everybody, now; `typed` is its name, as somebody confirmed it.

    Its rows are removed when UNDO_TIME is over (`remove_rows`). Raises RemovalRefused.
    """
    vault = Vault.objects.select_for_update().get(pk=vault_id)
    if vault.state in Vault.GONE:
        raise RemovalRefused("This vault was already deleted.")
    if lookup_key(typed) != lookup_key(vault.name):
        raise RemovalRefused(f"Type the name of the vault, “{vault.name}”, to delete it.")
    vault.state, vault.deleted = Vault.State.DELETED, timezone.now()
    vault.save(update_fields=["state", "deleted"])
    Job.objects.filter(vault=vault, state=Job.State.QUEUED).delete()
    return vault


@transaction.atomic
def restore_vault(vault_id: int) -> Vault:
    """Bring a deleted vault back as it was. Raises RemovalRefused when it is too late."""
    vault = Vault.objects.select_for_update().get(pk=vault_id)
    if vault.state != Vault.State.DELETED:
        raise RemovalRefused("It is too late: the vault is being removed.")
    vault.state = Vault.State.PAUSED if vault.pause_reason else Vault.State.ACTIVE
    vault.deleted = None
    vault.save(update_fields=["state", "deleted"])
    return vault


def seconds_to_undo(vault: Vault) -> float:
    """How long a deleted vault can still be brought back; 0 when it cannot."""
    if vault.state != Vault.State.DELETED or vault.deleted is None:
        return 0.0
    return max(0.0, (vault.deleted + UNDO_TIME - timezone.now()).total_seconds())


def remove_rows(vault_id: int, *, most_seconds: float, on_progress: OnProgress) -> bool:
    """Remove a deleted vault for a while; whether it is gone for good.

    Nothing happens to a vault that was brought back. Raises vault.locks.Busy while another
    process works on it.
    """
    vault = _claimed(vault_id)
    if vault is None:
        return True
    until = time.monotonic() + most_seconds
    with (
        only_one(Work.SYNC, vault_id),
        only_one(Work.EMBED, vault_id),
        only_one(Work.ENRICH, vault_id),
    ):
        for rows in _rows_of(vault_id):
            while removed := _remove_some(rows):
                on_progress(removed)
                if time.monotonic() >= until:
                    return False
        _forget(vault)
    return True


@transaction.atomic
def _claimed(vault_id: int) -> Vault | None:
    """The vault, from now on beyond recall; None when it is gone or was brought back, or is
    needed by a trial that goes on."""
    removable = Q(state__in=Vault.GONE) | Q(pk__in=copies_left())
    vault = Vault.every.select_for_update().filter(removable, pk=vault_id).first()
    if vault is None or seconds_to_undo(vault):
        return None
    if vault.state == Vault.State.DELETED:
        vault.state = Vault.State.REMOVING
        vault.save(update_fields=["state"])
    return vault


def _rows_of(vault_id: int) -> tuple[QuerySet[Any], ...]:
    """All there may be many of, so that nothing is left to cascade from."""
    return (
        ChunkVector.objects.filter(vault_id=vault_id),
        NoteVector.objects.filter(vault_id=vault_id),
        Chunk.objects.filter(vault_id=vault_id),
        Link.objects.filter(vault_id=vault_id),
        LexemeFrequency.objects.filter(vault_id=vault_id),
        Note.objects.filter(vault_id=vault_id),
    )


def _remove_some(rows: QuerySet[Any]) -> int:
    ids = list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH])
    if ids:
        rows.filter(pk__in=ids).delete()
    return len(ids)


def _forget(vault: Vault) -> None:
    """The vault's own row with what little hangs on it, and our copy of its files."""
    Job.objects.filter(vault=vault).delete()
    pk, place, kind = vault.pk, vault.place, vault.source_kind
    if vault.state == Vault.State.TRIAL:
        with disable_auditlog():  # as it was made
            vault.delete()
    else:
        vault.delete()
    if kind == Vault.SourceKind.UPLOAD:
        discard_upload(place)
    elif kind == Vault.SourceKind.GIT:
        from vault.sources.git import clone_place

        shutil.rmtree(clone_place(pk), ignore_errors=True)
    log.info("vault_removed", vault=pk)
