"""Whole notes that are near to a question, by the signs of their vectors, held in memory.

An index of a million passages misses some subjects whole: no way in its graph led there. Whole
notes are a tenth as many, and of each number of their vectors the sign alone is kept, 48 bytes
for 384 numbers: so all of them are compared, 100,000 in a millisecond. They only bring
passages, which the statement measures as it does any other; a list that is a minute old costs
nothing but a place in it.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from providers.models import EmbeddingModel
from vault.fields import Vector, vector_literal
from vault.staleness import fingerprint
from vault.vector_index import vector_cast

# Notes handed over. Signs alone put 0.97 of the notes that hold the nearest passages among them.
MOST_NEAR = 100
# Seconds after which it is looked whether note vectors were written since.
RENEW_AFTER = 60.0
# Notes whose signs are kept: 60 MB with 384 numbers each.
_MOST_KEPT = 1_000_000
_WORD = np.dtype(np.uint64)


class NearNote(NamedTuple):
    note_id: int
    vault_id: int


@dataclass(slots=True)
class _Signs:
    """A vault's notes under one model: bit i of column n of `words` (uint64) says whether
    number i of the vector of `note_ids[n]` is above the mean.

    `written`: how far note vectors were written when they were read; `looked`: when that was
    last compared, by time.monotonic().
    """

    note_ids: NDArray[np.int64]
    words: NDArray[np.uint64]
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
    """The notes of the vaults whose vectors differ from `query`, float32 (d,), in the fewest
    signs, best first; at most `limit`.

    Needs pgvector. The first call for a vault reads all its note vectors. Raises
    django.db.DataError for a query of another length than the model's.
    """
    space = (model.pk, fingerprint(model))
    centre = _centre(space, model)
    if centre is None:
        return ()
    asked = _packed(np.packbits(query > centre)[None, :])[:, 0]
    best = []
    for vault_id, signs in _signs(space, model, centre, vault_ids).items():
        differing = np.zeros(len(signs.note_ids), dtype=np.int64)
        for word, own in zip(signs.words, asked, strict=True):
            differing += np.bitwise_count(word ^ own)
        rows = _least(differing, limit)
        vaults = np.full(len(rows), vault_id)
        best.append(np.stack((differing[rows], signs.note_ids[rows], vaults)))
    found = np.concatenate(best, axis=1)
    order = np.lexsort(found[1::-1])[:limit]
    return tuple(NearNote(*pair) for pair in found[1:, order].T.tolist())


def _least(values: NDArray[np.int64], count: int) -> NDArray[np.intp]:
    """Places of the `count` least, in any order."""
    if len(values) <= count:
        return np.arange(len(values))
    return np.argpartition(values, count)[:count]


def _packed(rows: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Bytes (n, b), a row a note, as words (w, n), a column a note."""
    size = -(-rows.shape[1] // _WORD.itemsize) * _WORD.itemsize
    padded = np.zeros((len(rows), size), dtype=np.uint8)
    padded[:, : rows.shape[1]] = rows
    return np.ascontiguousarray(padded.view(_WORD).T)


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
        held |= _read(model, centre, due, written=written)
    with _lock:
        for vault in vault_ids:
            _kept[space, vault] = held[vault]
            _kept.move_to_end((space, vault))
        while len(_kept) > 1 and sum(len(signs.note_ids) for signs in _kept.values()) > _MOST_KEPT:
            _kept.popitem(last=False)
    return held


_READ = """
SELECT vault_id, string_agg(int8send(note_id), ''::bytea) AS note_ids,
    string_agg(substr(bit_send(binary_quantize(vector::{cast} - %s::{cast})), 5), ''::bytea)
FROM vault_notevector
WHERE embedding_model_id = %s AND fingerprint = %s AND vault_id = ANY(%s)
GROUP BY vault_id"""


def _read(
    model: EmbeddingModel, centre: Vector, vault_ids: Sequence[int], *, written: int
) -> dict[int, _Signs]:
    with connection.cursor() as cursor:
        cursor.execute(
            _READ.format(cast=vector_cast(model)),
            [vector_literal(centre), model.pk, fingerprint(model), list(vault_ids)],
        )
        rows: dict[int, Any] = {vault: rest for vault, *rest in cursor.fetchall()}
    width = -(-model.dimensions // 8)
    found = {}
    for vault in vault_ids:
        note_ids, bits = rows.get(vault, (b"", b""))
        found[vault] = _Signs(
            note_ids=np.frombuffer(note_ids, dtype=">i8").astype(np.int64),
            words=_packed(np.frombuffer(bits, dtype=np.uint8).reshape(-1, width)),
            written=written,
            looked=time.monotonic(),
        )
    return found


def _written() -> int:
    """A number that grows with every note vector that is written."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM vault_notevector_id_seq")
        row = cursor.fetchone()
    return int(row[0]) if row else 0
