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
    """A table of vectors: its name, and the column of what a vector belongs to."""

    name: str
    owner: str


NOTES = Table("vault_notevector", "note_id")
PASSAGES = Table("vault_chunkvector", "chunk_id")


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
    string_agg(substr(halfvec_send(vector), 5), ''::bytea ORDER BY owner)
FROM (
    SELECT {owner} AS owner, vector::{cast} AS vector FROM {table}
    WHERE embedding_model_id = %s AND fingerprint = %s AND vault_id = %s AND {owner} > %s
    ORDER BY {owner} LIMIT {most}
) AS portion"""


def read_signs(
    table: Table, model: EmbeddingModel, vault_id: int, *, centre: Vector
) -> tuple[NDArray[np.int64], Signs]:
    """The owners' ids (n,), ascending, and the signs of their vectors."""
    portions = list(_portions(table, model, vault_id, centre))
    return np.concatenate([ids for ids, _ in portions]), joined([signs for _, signs in portions])


_NOTES_OF = """
SELECT string_agg(int8send(id), ''::bytea ORDER BY id),
    string_agg(int8send(note_id), ''::bytea ORDER BY id)
FROM (
    SELECT id, note_id FROM vault_chunk WHERE vault_id = %s AND id > %s ORDER BY id LIMIT {most}
) AS portion"""


def notes_of(vault_id: int, chunk_ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """The notes' ids (n,) of the passages `chunk_ids` (n,), ascending, of a vault; 0 for one that
    is gone."""
    known, notes = _passages_of(vault_id)
    if not len(known):
        return np.zeros_like(chunk_ids)
    places = np.minimum(np.searchsorted(known, chunk_ids), len(known) - 1)
    return np.where(known[places] == chunk_ids, notes[places], 0)


def _passages_of(vault_id: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All passages of a vault, ascending, and their notes."""
    statement = _NOTES_OF.format(most=_READ_AT_ONCE)
    found, last = [np.zeros((2, 0), dtype=np.int64)], 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(statement, [vault_id, last])
            row = cursor.fetchone() or (None, None)
        found.append(np.array([np.frombuffer(ids or b"", dtype=">i8") for ids in row], np.int64))
        if found[-1].shape[1] < _READ_AT_ONCE:
            whole = np.concatenate(found, axis=1)
            return whole[0], whole[1]
        last = int(found[-1][0, -1])


def _portions(
    table: Table, model: EmbeddingModel, vault_id: int, centre: Vector
) -> Iterator[tuple[NDArray[np.int64], Signs]]:
    """At least one portion, of at most _READ_AT_ONCE vectors each."""
    statement = _READ.format(
        cast=vector_cast(model), table=table.name, owner=table.owner, most=_READ_AT_ONCE
    )
    last = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(statement, [*space_of(model), vault_id, last])
            ids, vectors = cursor.fetchone() or (None, None)
        owners = np.frombuffer(ids or b"", dtype=">i8").astype(np.int64)
        numbers = np.frombuffer(vectors or b"", dtype=">f2").astype(np.float32)
        yield owners, signs_of(numbers.reshape(-1, model.dimensions), centre=centre)
        if len(owners) < _READ_AT_ONCE:
            return
        last = int(owners[-1])
