"""Have notes read and embedded again: what is forgotten here, the next sync makes anew."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.db.models import QuerySet

from vault.models import Chunk, Note
from vault.refusals import failed_chunks, retry_failed


@transaction.atomic
def reindex_notes(notes: QuerySet[Note]) -> int:
    """Let the next sync read these notes from their files, and embedding try them again.

    They are found as before until then. Returns how many there are.
    """
    return _forget(list(notes.values_list("pk", flat=True)))


@transaction.atomic
def reindex_failed(vault_id: int) -> int:
    """As reindex_notes, for every note of the vault that failed or has a refused chunk."""
    refused = failed_chunks(vault_id)
    notes = Note.objects.filter(vault_id=vault_id)
    failed = set(notes.filter(status=Note.Status.FAILED).values_list("pk", flat=True))
    _forget(sorted(failed))
    with_refused = set(refused.values_list("note_id", flat=True))
    retry_failed(vault_id)
    return len(failed | with_refused)


def _forget(note_ids: Sequence[int]) -> int:
    # Another hash than the one wanted makes sync read the file, as it is.
    Note.objects.filter(pk__in=note_ids).update(indexed_hash="", attempts=0)
    Chunk.objects.filter(note_id__in=note_ids).exclude(embed_failed="").update(
        embed_failed="", embed_failed_by="", embed_attempts=0
    )
    return len(note_ids)
