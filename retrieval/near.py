"""What the signs of vectors bring to the vector arm of a search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.core.types import EF_SEARCH, Knobs
from retrieval.facts import ScopeFacts
from retrieval.meaning import VectorArm
from retrieval.near_notes import near_notes
from retrieval.near_passages import near_passages


@dataclass(frozen=True, slots=True)
class Near:
    """What signs are asked in. `among`: gives the notes that may be found, where not all may."""

    facts: ScopeFacts
    knobs: Knobs
    among: Callable[[], NDArray[np.int64]] | None

    @property
    def takes_passages(self) -> bool:
        """Whether all passages are compared by signs: in a large scope, unless those that may be
        found are few enough to be compared whole. Who sets `ef_search` means the index."""
        is_exact = self.among is not None and self.facts.is_small
        return self.facts.is_large and not is_exact and self.knobs.ef_search == EF_SEARCH


def with_near(arm: VectorArm, near: Near, *, by_signs: bool) -> VectorArm:
    """`arm` with what is near by signs, where the database compares: passages of a large
    scope, or whole notes beside what an index finds."""
    if arm.query is None:
        return arm
    facts, knobs = near.facts, near.knobs
    asked: dict[str, Any] = {"model": arm.model, "vault_ids": arm.vault_ids}
    if by_signs and near.takes_passages:
        passages = near_passages(arm.query, chunks=facts.chunks, among=near.among, **asked)
        if passages is not None:
            return replace(arm, passages=passages)
    if facts.is_small or not (facts.is_missing and knobs.note_vectors):
        return arm
    return replace(arm, notes=near_notes(arm.query, **asked))
