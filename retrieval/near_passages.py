"""Passages that are near to a question, by the signs of their vectors, held in memory.

The larger an index of vectors is, the more of the nearest it misses, and the more rows it must
look at: of a million passages the most rows that pgvector looks at bring nine of the ten nearest
in 50 ms. Of each number of a vector the sign alone is kept here (retrieval/core/signs.py), so
that all passages are compared; those that seem nearest are measured by the statement, as are all
that were written since the signs were read. Reading them takes a second for 60,000 passages, so
it is done behind the searches, which ask the index until then.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Lock, Thread

import numpy as np
from django.conf import settings
from django.db import Error, connection
from numpy.typing import NDArray

from providers.models import EmbeddingModel
from retrieval.core.signs import Signs, asked, nearest
from retrieval.reading_signs import (
    PASSAGES,
    Space,
    centre_of,
    read_signs,
    space_of,
    written,
)
from vault.fields import Vector

logger = logging.getLogger(__name__)

# Passages handed over: one in so many, within these bounds. Of a million made-up ones 1,000 hold
# 0.963 of the ten nearest, 1,500 0.977, 2,000 0.983, at 7 us of the processor each.
ONE_IN, LEAST_NEAR, MOST_NEAR = 500, 1_000, 2_000
# Vectors written since the signs were read that the statement measures; when half as many were,
# signs are read again.
MOST_LATE = 5_000
# Ids that were given before the reading, while their rows may have been written after it: some
# batches of embedding.
_MAYBE_LATE = 500
# Seconds after which it is looked how many vectors were written since.
RENEW_AFTER = 60.0


@dataclass(frozen=True, slots=True)
class NearPassages:
    """Passages that seem nearest, and the id of a vector after which any may be nearer."""

    chunk_ids: tuple[int, ...]
    vault_ids: tuple[int, ...]
    seen: int


@dataclass(frozen=True, slots=True)
class _Kept:
    """A vault's passages under one model: column n of `signs`, seen from `centre`, is of
    `chunk_ids[n]` of note `note_ids[n]`; of vectors with ids over `seen` some may be missing."""

    chunk_ids: NDArray[np.int64]
    note_ids: NDArray[np.int64]
    signs: Signs
    centre: Vector
    seen: int

    def of_notes(self, note_ids: NDArray[np.int64]) -> _Kept:
        """Its passages of these notes."""
        rows = np.flatnonzero(np.isin(self.note_ids, note_ids))
        return replace(
            self,
            chunk_ids=self.chunk_ids[rows],
            note_ids=self.note_ids[rows],
            signs=self.signs.at(rows),
        )


_Key = tuple[Space, int]
_kept: OrderedDict[_Key, _Kept] = OrderedDict()
# When a vault was last looked at, by time.monotonic(), whether or not it could be read.
_looked: dict[_Key, float] = {}
_lock = Lock()
_reader: Thread | None = None


def near_passages(
    query: Vector,
    *,
    model: EmbeddingModel,
    vault_ids: Sequence[int],
    chunks: int,
    among: Callable[[], NDArray[np.int64]] | None = None,
) -> NearPassages | None:
    """The passages of the vaults that seem nearest to `query`, float32 (d,), best first; with
    `among`, of these notes alone.

    None while the signs of one of the vaults are not read, and where `chunks`, as many passages
    as the vaults have, are more than may be kept (SEARCH_KEPT_PASSAGES); `among` is not asked
    then. Asks the database nothing: what is missing or old is read by a thread of its own.
    """
    if chunks > settings.SEARCH_KEPT_PASSAGES:
        return None
    space = space_of(model)
    keys = [(space, vault) for vault in vault_ids]
    now = time.monotonic()
    with _lock:
        held = {key: _kept[key] for key in keys if key in _kept}
        if any(now - _looked.get(key, -RENEW_AFTER) >= RENEW_AFTER for key in keys):
            _read_behind(model, tuple(vault_ids))
        for key in held:
            _kept.move_to_end(key)
    if len(held) < len(keys) or not keys:
        return None
    parts = list(held.values())
    if among is not None:
        notes = among()
        parts = [each.of_notes(notes) for each in parts]
    return _nearest(query, parts, vault_ids)


def _nearest(query: Vector, parts: Sequence[_Kept], vault_ids: Sequence[int]) -> NearPassages:
    """Of the passages of the vaults, a part each."""
    question = asked(query, centre=parts[0].centre)
    ends = np.cumsum([len(each.chunk_ids) for each in parts])
    count = min(MOST_NEAR, max(LEAST_NEAR, int(ends[-1]) // ONE_IN))
    rows = nearest([each.signs for each in parts], question, count=count)
    chunk_ids = np.concatenate([each.chunk_ids for each in parts])[rows]
    vaults = np.array(vault_ids)[np.searchsorted(ends, rows, side="right")]
    seen = min(each.seen for each in parts)
    return NearPassages(tuple(chunk_ids.tolist()), tuple(vaults.tolist()), seen)


def keep_passages(model: EmbeddingModel, vault_ids: Sequence[int]) -> None:
    """Read the signs of the vaults that were not read, or of which much was written since."""
    space, far = space_of(model), written(PASSAGES)
    centre = centre_of(PASSAGES, model)
    if centre is None:
        return
    for vault_id in vault_ids:
        key = (space, vault_id)
        known = _kept.get(key)
        if known is not None and far - known.seen <= _MAYBE_LATE + MOST_LATE // 2:
            continue
        seen = max(0, written(PASSAGES) - _MAYBE_LATE)
        chunk_ids, note_ids, signs = read_signs(PASSAGES, model, vault_id, centre=centre)
        with _lock:
            _kept[key] = _Kept(chunk_ids, note_ids, signs, centre, seen)
            _kept.move_to_end(key)
            _looked[key] = time.monotonic()
            _forget_oldest()


def _forget_oldest() -> None:
    most = settings.SEARCH_KEPT_PASSAGES
    while len(_kept) > 1 and sum(len(each.chunk_ids) for each in _kept.values()) > most:
        key, _ = _kept.popitem(last=False)
        _looked.pop(key, None)


def _read_behind(model: EmbeddingModel, vault_ids: tuple[int, ...]) -> None:
    global _reader  # noqa: PLW0603
    if _reader is not None and _reader.is_alive():
        return
    _looked.update(
        dict.fromkeys(((space_of(model), vault) for vault in vault_ids), time.monotonic())
    )
    _reader = Thread(target=_read, args=(model, vault_ids), name="signs", daemon=True)
    _reader.start()


def _read(model: EmbeddingModel, vault_ids: tuple[int, ...]) -> None:
    """The thread. What fails is tried again a minute later; until then the index is asked."""
    try:
        keep_passages(model, vault_ids)
    except Error:
        logger.exception("signs_not_read")
    finally:
        connection.close()
