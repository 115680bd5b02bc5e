"""Two evaluations of the same questions side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retrieval.core.metrics import MEASURES, Scores, mean

# A change of the mean nDCG@10 that is no more than chance for a handful of questions.
NOISE = 0.005


@dataclass(frozen=True, slots=True)
class Change:
    """One question in both runs. `delta`: nDCG@10 after less before."""

    key: str
    before: Scores
    after: Scores

    @property
    def delta(self) -> float:
        return self.after.ndcg_10 - self.before.ndcg_10


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed over the questions that both runs have, most changed first."""

    before: Scores
    after: Scores
    better: tuple[Change, ...]
    worse: tuple[Change, ...]
    same: int
    only_before: int
    only_after: int

    @property
    def deltas(self) -> dict[str, float]:
        """After less before, by measure."""
        return {name: getattr(self.after, name) - getattr(self.before, name) for name in MEASURES}

    @property
    def is_worse(self) -> bool:
        """Whether the questions are found less well, by more than chance."""
        return self.deltas["ndcg_10"] < -NOISE

    @property
    def is_better(self) -> bool:
        return self.deltas["ndcg_10"] > NOISE


def compare(before: Mapping[str, Scores], after: Mapping[str, Scores]) -> Comparison:
    """Compare scores by question; questions of one side alone are counted and left out."""
    shared = [key for key in before if key in after]
    changes = [Change(key, before[key], after[key]) for key in shared]
    return Comparison(
        before=mean(before[key] for key in shared),
        after=mean(after[key] for key in shared),
        better=_sorted([change for change in changes if change.delta > 0]),
        worse=_sorted([change for change in changes if change.delta < 0]),
        same=sum(change.delta == 0 for change in changes),
        only_before=len(before) - len(shared),
        only_after=len(after) - len(shared),
    )


@dataclass(frozen=True, slots=True)
class Move:
    """Where something stands in two rankings, from 1; None: in that one it does not."""

    key: int
    before: int | None
    after: int | None

    @property
    def steps(self) -> int | None:
        """Places it rose by (negative: fell); None where one side does not have it."""
        if self.before is None or self.after is None:
            return None
        return self.before - self.after


def moves(before: Sequence[int], after: Sequence[int]) -> dict[int, Move]:
    """The places of each key in both rankings."""
    first = {key: rank for rank, key in enumerate(before, 1)}
    second = {key: rank for rank, key in enumerate(after, 1)}
    return {key: Move(key, first.get(key), second.get(key)) for key in {**first, **second}}


def _sorted(changes: Sequence[Change]) -> tuple[Change, ...]:
    return tuple(sorted(changes, key=lambda change: (-abs(change.delta), change.key)))
