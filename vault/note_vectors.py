"""The vector of a whole note: the mean of those of its chunks."""

from __future__ import annotations

import numpy as np
from django.db import connection

from providers.models import EmbeddingModel
from vault.models import ChunkVector, NoteVector
from vault.staleness import fingerprint


def write_note_vectors(
    vault_id: int, model: EmbeddingModel, *, notes: set[int] | None = None
) -> int:
    """Make the vector of each note whose chunks all have one: their mean, unit norm.

    Only notes whose vector is missing or made from other chunks; `notes` narrows it.
    """
    due = _notes_due(vault_id, model, notes)
    rows = []
    for note_id, made_from in due:
        vectors = ChunkVector.objects.filter(
            embedding_model=model, vault_id=vault_id, chunk__note_id=note_id
        ).values_list("vector", flat=True)
        mean = np.mean(np.stack(list(vectors)), axis=0, dtype=np.float32)
        length = float(np.linalg.norm(mean))
        if length > 0:
            rows.append(
                NoteVector(
                    vault_id=vault_id,
                    note_id=note_id,
                    embedding_model=model,
                    embed_hash=made_from,
                    fingerprint=fingerprint(model),
                    vector=np.asarray(mean / length, dtype=np.float32),
                )
            )
    NoteVector.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["embedding_model", "vault", "note"],
        update_fields=["embed_hash", "fingerprint", "vector"],
    )
    return len(rows)


def _notes_due(
    vault_id: int, model: EmbeddingModel, notes: set[int] | None
) -> list[tuple[int, str]]:
    """(note id, hash of its chunks) where the note vector does not match its chunks."""
    narrowed = "AND c.note_id = ANY(%s)" if notes is not None else ""
    parameters: list[int | str | list[int]] = [model.pk, fingerprint(model), vault_id]
    if notes is not None:
        parameters.append(sorted(notes))
    with connection.cursor() as cursor:
        # Only fixed text is put together here; values are parameters.
        cursor.execute(
            f"""
            SELECT due.note_id, due.made_from FROM (
                SELECT c.note_id, md5(string_agg(c.embed_hash, ',' ORDER BY c.ordinal)) made_from
                FROM vault_chunk c
                LEFT JOIN vault_chunkvector v ON v.chunk_id = c.id AND v.vault_id = c.vault_id
                    AND v.embedding_model_id = %s AND v.embed_hash = c.embed_hash
                    AND v.fingerprint = %s
                WHERE c.vault_id = %s {narrowed}
                GROUP BY c.note_id HAVING bool_and(v.id IS NOT NULL)
            ) due
            LEFT JOIN vault_notevector n ON n.note_id = due.note_id
                AND n.embedding_model_id = %s AND n.fingerprint = %s
            WHERE n.embed_hash IS DISTINCT FROM due.made_from
            """,  # noqa: S608
            [*parameters, model.pk, fingerprint(model)],
        )
        return [(int(note_id), str(made_from)) for note_id, made_from in cursor.fetchall()]
