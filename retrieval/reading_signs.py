"""Reads the vectors of notes or passages from the database, to be kept by their signs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from providers.models import EmbeddingModel
from retrieval.core.signs import Signs, joined, signs_of
from vault.fields import Vector
from vault.staleness import fingerprint
from vault.vector_index import vector_cast

# Vectors read at once: 15 MB on their way with 384 numbers each.
_READ_AT_ONCE = 20_000
# Vectors whose mean is the centre; it need not be the mean of all.
_SEEN_FOR_CENTRE = 10_000

Space = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of vectors: its name, the column of what a vector belongs to, and SQL of the note
    of such a one."""

    name: str
    owner: str
    note: str


NOTES = Table("vault_notevector", "note_id", "note_id")
PASSAGES = Table(
    "vault_chunkvector", "chunk_id", "(SELECT c.note_id FROM vault_chunk c WHERE c.id = chunk_id)"
)


def space_of(model: EmbeddingModel) -> Space:
    """Vectors of one space compare: those of the model as it is now."""
    return model.pk, fingerprint(model)


_CENTRE = """
SELECT avg(vector) FROM (
    SELECT vector::{cast} AS vector FROM {table}
    WHERE embedding_model_id = %s AND fingerprint = %s LIMIT {seen}
) AS sample"""


# Taken once a process, since signs under two centres do not compare.
_centres: dict[tuple[Table, Space], Vector] = {}


def centre_of(table: Table, model: EmbeddingModel) -> Vector | None:
    """About the mean, float32 (d,), of the model's vectors: signs of what all of them share say
    nothing. The same for as long as this process lives; None while there are no vectors."""
    key = (table, space_of(model))
    if key in _centres:
        return _centres[key]
    statement = _CENTRE.format(cast=vector_cast(model), table=table.name, seen=_SEEN_FOR_CENTRE)
    with connection.cursor() as cursor:
        cursor.execute(statement, space_of(model))
        row = cursor.fetchone()
    if not (row and row[0]):
        return None
    _centres[key] = np.fromstring(row[0].strip("[]"), sep=",", dtype=np.float32)
    return _centres[key]


def written(table: Table) -> int:
    """The largest id that a vector of any model and vault was given."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT last_value FROM {table.name}_id_seq")  # noqa: S608
        row = cursor.fetchone()
    return int(row[0]) if row else 0


# A portion of a vault by the owners' ids; numbers follow the four bytes of a vector's length.
_READ = """
SELECT string_agg(int8send(owner), ''::bytea ORDER BY owner),
    string_agg(int8send(note), ''::bytea ORDER BY owner),
    string_agg(substr(halfvec_send(vector), 5), ''::bytea ORDER BY owner)
FROM (
    SELECT {owner} AS owner, {note} AS note, vector::{cast} AS vector FROM {table}
    WHERE embedding_model_id = %s AND fingerprint = %s AND vault_id = %s AND {owner} > %s
    ORDER BY {owner} LIMIT {most}
) AS portion"""


def read_signs(
    table: Table, model: EmbeddingModel, vault_id: int, *, centre: Vector
) -> tuple[NDArray[np.int64], NDArray[np.int64], Signs]:
    """The owners' ids (n,), ascending, those of their notes (n,), and the signs of their
    vectors."""
    owners, notes, signs = zip(*_portions(table, model, vault_id, centre), strict=True)
    return np.concatenate(owners), np.concatenate(notes), joined(signs)


def _portions(
    table: Table, model: EmbeddingModel, vault_id: int, centre: Vector
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Signs]]:
    """At least one portion, of at most _READ_AT_ONCE vectors each."""
    statement = _READ.format(
        cast=vector_cast(model),
        table=table.name,
        owner=table.owner,
        note=table.note,
        most=_READ_AT_ONCE,
    )
    last = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(statement, [*space_of(model), vault_id, last])
            ids, of_notes, vectors = cursor.fetchone() or (None, None, None)
        owners, notes = (
            np.frombuffer(each or b"", dtype=">i8").astype(np.int64) for each in (ids, of_notes)
        )
        numbers = np.frombuffer(vectors or b"", dtype=">f2").astype(np.float32)
        yield owners, notes, signs_of(numbers.reshape(-1, model.dimensions), centre=centre)
        if len(owners) < _READ_AT_ONCE:
            return
        last = int(owners[-1])
