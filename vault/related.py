"""Notes that read like another one, by the vectors of whole notes."""

from __future__ import annotations

import numpy as np
from django.db import connection
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from vault import access
from vault.core.types import Scope
from vault.fields import has_halfvec, vector_literal
from vault.models import Note, NoteVector

MOST_RELATED = 20


def related_notes(note: Note, *, scope: Scope, limit: int = 5) -> list[tuple[Note, float]]:
    """The notes of `scope` nearest to `note` with their cosine similarity, best first.

    Empty while the note has no vector under the model that serves its vault. Only vectors
    of the same model are compared. At most MOST_RELATED.
    """
    limit = min(limit, MOST_RELATED)
    own = _own_vector(note)
    if own is None or not scope or limit < 1:
        return []
    others = NoteVector.objects.filter(
        vault_id__in=scope.vault_ids,
        embedding_model_id=own.embedding_model_id,
        fingerprint=own.fingerprint,
    ).exclude(note_id=note.pk)
    if scope.rules:
        others = others.filter(note__in=access.notes_in(scope))
    nearest = _by_database(others, own) if has_halfvec(connection) else _by_numpy(others, own)
    found = dict(nearest[:limit])
    notes = access.notes_in(scope).filter(pk__in=found, status=Note.Status.INDEXED)
    rows = [(row, found[row.pk]) for row in notes.select_related("vault").defer("body")]
    return sorted(rows, key=lambda row: (-row[1], row[0].path))


def _own_vector(note: Note) -> NoteVector | None:
    return NoteVector.objects.filter(
        note=note, embedding_model_id=note.vault.embedding_model_id
    ).first()


def _by_database(others: QuerySet[NoteVector], own: NoteVector) -> list[tuple[int, float]]:
    distance = RawSQL("vector <=> %s::halfvec", [vector_literal(own.vector)])
    rows = others.annotate(distance=distance).order_by("distance", "note_id")
    return [
        (note_id, 1.0 - float(far))
        for note_id, far in rows.values_list("note_id", "distance")[:MOST_RELATED]
    ]


def _by_numpy(others: QuerySet[NoteVector], own: NoteVector) -> list[tuple[int, float]]:
    rows = list(others.order_by("note_id").values_list("note_id", "vector"))
    if not rows:
        return []
    likeness = np.stack([vector for _, vector in rows]) @ own.vector
    order = np.argsort(-likeness, kind="stable")[:MOST_RELATED]
    return [(rows[index][0], float(likeness[index])) for index in order]
