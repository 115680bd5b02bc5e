"""The record of a retrieval: "how this was found"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from retrieval.core.types import Candidate, Knobs, Retrieval
from retrieval.models import RetrievalRun

# Enough to see why a passage was or was not taken.
_MOST_CANDIDATES = 50


def store_run(
    question: str,
    retrieval: Retrieval,
    *,
    candidates: Sequence[Candidate],
    knobs: Knobs,
    user_id: int | None,
) -> int:
    """Keep what was asked and how it went; returns the id of the row."""
    run = RetrievalRun.objects.create(
        user_id=user_id,
        question=question,
        queries=list(retrieval.queries),
        vaults=list(retrieval.searched_vaults),
        mode=retrieval.mode,
        knobs=asdict(knobs),
        arms=[asdict(arm) for arm in retrieval.arms],
        candidates=[asdict(candidate) for candidate in candidates[:_MOST_CANDIDATES]],
        timings=retrieval.timings,
        notices=list(retrieval.notices),
        passages=len(retrieval.passages),
    )
    return run.pk
