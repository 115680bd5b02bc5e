"""The vector of a whole note: the mean of those of its chunks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from django.db import connection

from providers.models import EmbeddingModel
from vault.fields import Vector
from vault.models import ChunkVector, NoteVector
from vault.staleness import fingerprint

# Notes whose vectors are held in memory together.
_BATCH = 200
# Of a note whose vectors went away meanwhile.
_NOTHING = [np.zeros(1, dtype=np.float32)]


def write_note_vectors(
    vault_id: int, model: EmbeddingModel, *, notes: set[int] | None = None
) -> int:
    """Make the vector of each note none of whose chunks waits: their mean, unit norm.

    Only notes whose vector is missing or made from other chunks; `notes` narrows it. A chunk
    that the model refused is left out of the mean. Returns how many were written.
    """
    due = _notes_due(vault_id, model, notes)
    for start in range(0, len(due), _BATCH):
        _write(vault_id, model, due[start : start + _BATCH])
    return len(due)


def has_due_notes(vault_id: int, model: EmbeddingModel) -> bool:
    """Whether a note's vector does not match its chunks although all of them have theirs."""
    return bool(_notes_due(vault_id, model, None, most=1))


def drop_note_vectors_of_nothing(vault_id: int) -> int:
    """Forget vectors of notes that have no chunk left; returns how many."""
    rows = NoteVector.objects.filter(vault_id=vault_id, note__chunks=None)
    return NoteVector.objects.filter(pk__in=list(rows.values_list("pk", flat=True))).delete()[0]


def _write(vault_id: int, model: EmbeddingModel, due: Sequence[tuple[int, str]]) -> None:
    by_note: dict[int, list[Vector]] = {}
    vectors = ChunkVector.objects.filter(
        embedding_model=model,
        vault_id=vault_id,
        fingerprint=fingerprint(model),
        chunk__note_id__in=[note_id for note_id, _made_from in due],
    )
    for note_id, vector in vectors.values_list("chunk__note_id", "vector"):
        by_note.setdefault(note_id, []).append(vector)
    rows = []
    for note_id, made_from in due:
        mean = np.mean(by_note.get(note_id, _NOTHING), axis=0, dtype=np.float32)
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


def _notes_due(
    vault_id: int, model: EmbeddingModel, notes: set[int] | None, *, most: int | None = None
) -> list[tuple[int, str]]:
    """(note id, hash of its chunks) where the note vector does not match its chunks."""
    narrowed = "AND c.note_id = ANY(%(notes)s)" if notes is not None else ""
    parameters: dict[str, int | str | list[int] | None] = {
        "model": model.pk,
        "space": fingerprint(model),
        "vault": vault_id,
        "notes": sorted(notes or ()),
        "most": most,
    }
    with connection.cursor() as cursor:
        # Only fixed text is put together here; values are parameters.
        cursor.execute(
            f"""
            SELECT due.note_id, due.made_from FROM (
                SELECT c.note_id, md5(string_agg(c.embed_hash, ',' ORDER BY c.ordinal)
                    FILTER (WHERE v.id IS NOT NULL)) made_from
                FROM vault_chunk c
                LEFT JOIN vault_chunkvector v ON v.chunk_id = c.id AND v.vault_id = c.vault_id
                    AND v.embedding_model_id = %(model)s AND v.embed_hash = c.embed_hash
                    AND v.fingerprint = %(space)s
                WHERE c.vault_id = %(vault)s {narrowed}
                GROUP BY c.note_id
                HAVING bool_or(v.id IS NOT NULL) AND bool_and(
                    v.id IS NOT NULL OR c.embed_failed <> ''
                        AND strpos(c.embed_failed_by, %(space)s) > 0)
            ) due
            LEFT JOIN vault_notevector n ON n.note_id = due.note_id
                AND n.embedding_model_id = %(model)s AND n.fingerprint = %(space)s
            WHERE n.embed_hash IS DISTINCT FROM due.made_from
            LIMIT %(most)s
            """,  # noqa: S608
            parameters,
        )
        return [(int(note_id), str(made_from)) for note_id, made_from in cursor.fetchall()]
