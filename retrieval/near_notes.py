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
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from providers.models import EmbeddingModel
from retrieval.core.signs import Signs, asked, nearest
from retrieval.reading_signs import NOTES, Space, centre_of, read_signs, space_of, written
from vault.fields import Vector

# Notes handed over, of which the nearest by their vectors bring passages: of 100,000 notes these
# hold 0.86 of the twenty nearest, 100 would hold 0.65.
MOST_NEAR = 300
# Seconds after which it is looked whether note vectors were written since.
RENEW_AFTER = 60.0
# Notes whose signs are kept: 65 MB with 384 numbers each.
_MOST_KEPT = 1_000_000


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


_kept: OrderedDict[tuple[Space, int], _Signs] = OrderedDict()
_lock = Lock()


def near_notes(
    query: Vector, *, model: EmbeddingModel, vault_ids: Sequence[int], limit: int = MOST_NEAR
) -> tuple[NearNote, ...]:
    """The notes of the vaults whose vectors are nearest to `query`, float32 (d,), as far as
    their signs tell, best first; at most `limit`.

    Needs pgvector. The first call for a vault reads all its note vectors. Raises
    django.db.DataError for a query of another length than the model's.
    """
    space = space_of(model)
    centre = centre_of(NOTES, model)
    if centre is None:
        return ()
    kept = _signs(space, model, centre, vault_ids)
    question = asked(query, centre=centre)
    rows = nearest([each.signs for each in kept.values()], question, count=limit)
    note_ids = np.concatenate([each.note_ids for each in kept.values()])[rows]
    vaults = np.repeat(list(kept), [len(each.note_ids) for each in kept.values()])[rows]
    return tuple(map(NearNote, note_ids.tolist(), vaults.tolist()))


def _signs(
    space: Space, model: EmbeddingModel, centre: Vector, vault_ids: Sequence[int]
) -> dict[int, _Signs]:
    """What is kept of each vault. What is missing is read; of what is old one vault a call, so
    that no search waits for all."""
    now = time.monotonic()
    with _lock:
        held = {vault: _kept[space, vault] for vault in vault_ids if (space, vault) in _kept}
    due = [vault for vault in vault_ids if vault not in held]
    old = [vault for vault, signs in held.items() if now - signs.looked > RENEW_AFTER]
    if due or old:
        far = written(NOTES)
        for vault in old:
            if held[vault].written == far:
                held[vault].looked = now
        changed = [vault for vault in old if held[vault].written != far]
        due += sorted(changed, key=lambda vault: held[vault].looked)[:1]
    if due:
        held |= {vault: _read(model, centre, vault, written=far) for vault in due}
    with _lock:
        for vault in vault_ids:
            _kept[space, vault] = held[vault]
            _kept.move_to_end((space, vault))
        while len(_kept) > 1 and sum(len(signs.note_ids) for signs in _kept.values()) > _MOST_KEPT:
            _kept.popitem(last=False)
    return held


def _read(model: EmbeddingModel, centre: Vector, vault_id: int, *, written: int) -> _Signs:
    note_ids, _, signs = read_signs(NOTES, model, vault_id, centre=centre)
    return _Signs(note_ids, signs, written, looked=time.monotonic())
