"""Search by meaning without pgvector: exact cosine over vectors held in memory."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from providers.models import EmbeddingModel
from vault.fields import Vector
from vault.models import ChunkVector
from vault.staleness import fingerprint

# 20,000 vectors of 384 numbers are 30 MB; vaults asked about lately stay loaded.
_MOST_LOADED = 8

_Key = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The vectors of a vault under one model: row i of `matrix` belongs to `chunk_ids[i]`."""

    version: str
    chunk_ids: NDArray[np.int64]
    is_code: NDArray[np.bool_]
    matrix: NDArray[np.float32]


_loaded: OrderedDict[_Key, _Loaded] = OrderedDict()
_lock = Lock()


def nearest_in_memory(
    query: Vector,
    *,
    model: EmbeddingModel,
    vault_ids: tuple[int, ...],
    limit: int,
    code_limit: int = 0,
) -> tuple[tuple[int, float], ...]:
    """Chunk ids with their cosines, best first; ties by chunk. The `limit` nearest of all, and
    the `code_limit` nearest of source code.

    `query` is float32 (d,) with unit norm. Vectors of another length are left out.
    """
    near: list[tuple[float, int]] = []
    near_code: list[tuple[float, int]] = []
    for vault_id in vault_ids:
        vectors = _vectors(model, vault_id)
        if not len(vectors.chunk_ids):
            continue
        cosines = vectors.matrix @ query.astype(np.float32)
        ranked = np.argsort(-cosines, kind="stable")
        for found, rows in (
            (near, ranked[:limit]),
            (near_code, ranked[vectors.is_code[ranked]][:code_limit]),
        ):
            found += [(-float(cosines[row]), int(vectors.chunk_ids[row])) for row in rows]
    both = sorted({*sorted(near)[:limit], *sorted(near_code)[:code_limit]})
    return tuple((chunk_id, -minus) for minus, chunk_id in both)


def _vectors(model: EmbeddingModel, vault_id: int) -> _Loaded:
    """The vault's vectors, loaded again when any of them changed."""
    version = _version(model, vault_id)
    key = (model.pk, vault_id)
    with _lock:
        known = _loaded.get(key)
        if known is not None and known.version == version:
            _loaded.move_to_end(key)
            return known
    fresh = _load(model, vault_id, version)
    with _lock:
        _loaded[key] = fresh
        while len(_loaded) > _MOST_LOADED:
            _loaded.popitem(last=False)
    return fresh


# Hashes say what was embedded; ids, which rows: any change moves one of them.
_VERSION = """
SELECT md5(string_agg(v.id || v.embed_hash || c.embed_hash, ',' ORDER BY v.id))
FROM vault_chunkvector v JOIN vault_chunk c ON c.id = v.chunk_id
WHERE v.embedding_model_id = %s AND v.vault_id = %s
"""


def _version(model: EmbeddingModel, vault_id: int) -> str:
    with connection.cursor() as cursor:
        cursor.execute(_VERSION, [model.pk, vault_id])
        row = cursor.fetchone()
    return f"{fingerprint(model)} {row[0] if row else ''}"


def _load(model: EmbeddingModel, vault_id: int, version: str) -> _Loaded:
    rows = ChunkVector.objects.filter(
        embedding_model=model, vault_id=vault_id, fingerprint=fingerprint(model)
    )
    found = [
        (chunk_id, is_code, vector)
        for chunk_id, is_code, vector, hashed, current in rows.order_by("chunk_id").values_list(
            "chunk_id", "chunk__is_code", "vector", "embed_hash", "chunk__embed_hash"
        )
        if len(vector) == model.dimensions and hashed == current
    ]
    matrix = np.zeros((len(found), model.dimensions), dtype=np.float32)
    for row, (_id, _is_code, vector) in enumerate(found):
        matrix[row] = vector / (float(np.linalg.norm(vector)) or 1.0)
    chunk_ids = np.array([chunk_id for chunk_id, _is_code, _vector in found], dtype=np.int64)
    is_code = np.array([is_code for _id, is_code, _vector in found], dtype=np.bool_)
    return _Loaded(version, chunk_ids, is_code, matrix)
