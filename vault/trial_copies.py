"""Copies of notes, cut by other sizes: a vault without members, for as long as a trial lasts.

Made from what is stored, never from files, and by the functions that make any note. Context
lines are not copied: a model would have to write them for the new passages.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import structlog
from auditlog.context import disable_auditlog
from django.db import transaction
from django.db.models import Q, QuerySet

from vault.connections import due_connections, mark_names_changed, refresh_connections
from vault.core.chunking import chunk_note
from vault.core.passage_sizes import PassageSizes
from vault.indexing import reading_options, write_new_notes
from vault.lexemes import know_lexemes
from vault.locks import Work, only_one
from vault.models import Note, SizeTrial, Vault
from vault.reading import Reading, ReadingOptions
from vault.stored_text import parsed_from_text

log = structlog.get_logger(__name__)

# Notes in one transaction: well under a second of cutting.
BATCH = 20
_COPIED = [
    field.attname
    for field in Note._meta.concrete_fields
    if not field.primary_key and field.attname != "vault_id"
]


def make_copies_vault(original: Vault, sizes: PassageSizes) -> Vault:
    """An empty vault that cuts notes by `sizes`, and is embedded by the model that serves
    `original`."""
    with disable_auditlog():  # nobody made this vault, and nobody shall read of it
        return Vault.every.create(
            slug=f"trial-{secrets.token_hex(8)}",
            name=original.name,
            place="",
            state=Vault.State.TRIAL,
            embedding_model=original.embedding_model,
            chunk_tokens=sizes.tokens,
            chunk_overlap=sizes.overlap,
            chunk_minimum=sizes.minimum,
        )


def copy_some(copies: Vault, note_ids: Sequence[int]) -> int:
    """Cut and store copies of the next few of these notes; how many are still to be copied.

    A note that was deleted meanwhile is left out. Raises vault.locks.Busy when another
    process does the same.
    """
    with only_one(Work.SYNC, copies.pk):
        options = reading_options(copies)
        waiting = _missing(copies, note_ids)
        _copy(copies, list(waiting.order_by("path")[:BATCH]), options)
        left = waiting.count()
        if not left and due_connections(copies.pk) is not None:
            refresh_connections(copies.pk, most_tokens=options.limits.maximum)
        return left


def copies_left() -> QuerySet[Vault, int]:
    """Ids of the vaults of copies that no trial needs any more."""
    going_on = SizeTrial.objects.filter(state__in=SizeTrial.OPEN)
    needed = Q(pk__in=going_on.filter(before_vault__isnull=False).values("before_vault"))
    needed |= Q(pk__in=going_on.filter(after_vault__isnull=False).values("after_vault"))
    left = Vault.every.filter(state=Vault.State.TRIAL).exclude(needed)
    return left.values_list("pk", flat=True)


def _missing(copies: Vault, note_ids: Sequence[int]) -> QuerySet[Note]:
    there = Note.objects.filter(vault=copies)
    return Note.objects.filter(pk__in=note_ids).exclude(path__in=there.values("path"))


@transaction.atomic
def _copy(copies: Vault, notes: Sequence[Note], options: ReadingOptions) -> None:
    if not notes:
        return
    made: list[tuple[Note, Reading]] = []
    for note in notes:
        copied = Note(vault=copies, **{name: getattr(note, name) for name in _COPIED})
        copied.links_due = True
        made.append((copied, _read_again(note, options)))
    write_new_notes(made)
    know_lexemes([copied.pk for copied, _reading in made])
    mark_names_changed(copies.pk)


def _read_again(note: Note, options: ReadingOptions) -> Reading:
    """What the stored text of `note` gives; nothing, on both sides, where it cannot be read."""
    try:
        parsed = parsed_from_text(note, note.body)
        return Reading(parsed, tuple(chunk_note(parsed, limits=options.limits)))
    except Exception:  # the outer edge: one note never stops a trial
        log.exception("copy_failed", note=note.pk)
        return Reading(None)
