"""Whole notes that are near to a question, by the signs of their vectors, held in memory.

An index of a million passages misses some subjects whole: no way in its graph led there. Whole
notes are a tenth as many, and of each number of their vectors the sign alone is kept, 56 bytes
for 384 numbers: so all of them are compared, 100,000 in four milliseconds. They only bring
passages, which the statement measures as it does any other; a list that is a minute old costs
nothing but a place in it.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from providers.models import EmbeddingModel
from retrieval.core.signs import Signs, estimates, joined, signs_of, word_values
from vault.fields import Vector
from vault.staleness import fingerprint
from vault.vector_index import vector_cast

# Notes handed over, of which the nearest by their vectors bring passages: of 100,000 notes these
# hold 0.86 of the twenty nearest, 100 would hold 0.65.
MOST_NEAR = 300
# Seconds after which it is looked whether note vectors were written since.
RENEW_AFTER = 60.0
# Notes whose signs are kept: 65 MB with 384 numbers each.
_MOST_KEPT = 1_000_000
# Note vectors read at once: 60 MB on their way with 384 numbers each.
_READ_AT_ONCE = 40_000


class NearNote(NamedTuple):
    note_id: int
    vault_id: int


@dataclass(slots=True)
class _Signs:
    """A vault's notes under one model: column n of `signs` is of the vector of `note_ids[n]`.

    `written`: how far note vectors were written when they were read; `looked`: when that was
    last compared, by time.monotonic().
    """

    note_ids: NDArray[np.int64]
    signs: Signs
    written: int
    looked: float


_Space = tuple[int, str]
_kept: OrderedDict[tuple[_Space, int], _Signs] = OrderedDict()
# The mean of a model's vectors: signs of what all of them share say nothing. Taken once, since
# signs by two means do not compare.
_centres: dict[_Space, Vector] = {}
_lock = Lock()


def near_notes(
    query: Vector, *, model: EmbeddingModel, vault_ids: Sequence[int], limit: int = MOST_NEAR
) -> tuple[NearNote, ...]:
    """The notes of the vaults whose vectors are nearest to `query`, float32 (d,), as far as
    their signs tell, best first; at most `limit`.

    Needs pgvector. The first call for a vault reads all its note vectors. Raises
    django.db.DataError for a query of another length than the model's.
    """
    space = (model.pk, fingerprint(model))
    centre = _centre(space, model)
    if centre is None:
        return ()
    kept = _signs(space, model, centre, vault_ids)
    signs = joined([each.signs for each in kept.values()])
    near = estimates(signs, word_values(query, centre=centre))
    note_ids = np.concatenate([each.note_ids for each in kept.values()])
    vaults = np.repeat(list(kept), [len(each.note_ids) for each in kept.values()])
    rows = _largest(near, limit)
    order = rows[np.lexsort((note_ids[rows], -near[rows]))]
    return tuple(map(NearNote, note_ids[order].tolist(), vaults[order].tolist()))


def _largest(values: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """Places of the `count` largest, in any order."""
    if len(values) <= count:
        return np.arange(len(values))
    return np.argpartition(values, -count)[-count:]


_CENTRE = """
SELECT avg(vector::{cast}) FROM vault_notevector
WHERE embedding_model_id = %s AND fingerprint = %s"""


def _centre(space: _Space, model: EmbeddingModel) -> Vector | None:
    """The mean of all note vectors of the model; None while there are none."""
    if space not in _centres:
        with connection.cursor() as cursor:
            cursor.execute(_CENTRE.format(cast=vector_cast(model)), list(space))
            row = cursor.fetchone()
        if not (row and row[0]):
            return None
        _centres[space] = np.fromstring(row[0].strip("[]"), sep=",", dtype=np.float32)
    return _centres[space]


def _signs(
    space: _Space, model: EmbeddingModel, centre: Vector, vault_ids: Sequence[int]
) -> dict[int, _Signs]:
    """What is kept of each vault. What is missing is read; of what is old one vault a call, so
    that no search waits for all."""
    now = time.monotonic()
    with _lock:
        held = {vault: _kept[space, vault] for vault in vault_ids if (space, vault) in _kept}
    due = [vault for vault in vault_ids if vault not in held]
    old = [vault for vault, signs in held.items() if now - signs.looked > RENEW_AFTER]
    if due or old:
        written = _written()
        for vault in old:
            if held[vault].written == written:
                held[vault].looked = now
        changed = [vault for vault in old if held[vault].written != written]
        due += sorted(changed, key=lambda vault: held[vault].looked)[:1]
    if due:
        held |= {vault: _read(model, centre, vault, written=written) for vault in due}
    with _lock:
        for vault in vault_ids:
            _kept[space, vault] = held[vault]
            _kept.move_to_end((space, vault))
        while len(_kept) > 1 and sum(len(signs.note_ids) for signs in _kept.values()) > _MOST_KEPT:
            _kept.popitem(last=False)
    return held


# A portion of a vault's notes by their ids; numbers follow the four bytes of a vector's length.
_READ = """
SELECT string_agg(int8send(note_id), ''::bytea ORDER BY note_id) AS note_ids,
    string_agg(substr(halfvec_send(vector::{cast}), 5), ''::bytea ORDER BY note_id) AS vectors
FROM (
    SELECT note_id, vector FROM vault_notevector
    WHERE embedding_model_id = %s AND fingerprint = %s AND vault_id = %s AND note_id > %s
    ORDER BY note_id LIMIT %s
) AS portion"""


def _read(model: EmbeddingModel, centre: Vector, vault_id: int, *, written: int) -> _Signs:
    portions = list(_portions(model, centre, vault_id))
    return _Signs(
        note_ids=np.concatenate([note_ids for note_ids, _signs in portions]),
        signs=joined([signs for _note_ids, signs in portions]),
        written=written,
        looked=time.monotonic(),
    )


def _portions(
    model: EmbeddingModel, centre: Vector, vault_id: int
) -> Iterator[tuple[NDArray[np.int64], Signs]]:
    """Ids and signs of the notes of a vault, at least one portion, at most _READ_AT_ONCE each."""
    statement = _READ.format(cast=vector_cast(model))
    last = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(statement, [model.pk, fingerprint(model), vault_id, last, _READ_AT_ONCE])
            ids, vectors = cursor.fetchone() or (None, None)
        note_ids = np.frombuffer(ids or b"", dtype=">i8").astype(np.int64)
        numbers = np.frombuffer(vectors or b"", dtype=">f2").astype(np.float32)
        yield note_ids, signs_of(numbers.reshape(-1, model.dimensions), centre=centre)
        if len(note_ids) < _READ_AT_ONCE:
            return
        last = int(note_ids[-1])


def _written() -> int:
    """A number that grows with every note vector that is written."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM vault_notevector_id_seq")
        row = cursor.fetchone()
    return int(row[0]) if row else 0
