"""How good a ranking is: nDCG@10, recall@10, recall@20 and MRR@10, for notes."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

# As deep as a ranking is looked at.
DEPTH = 20


@dataclass(frozen=True, slots=True)
class Scores:
    """Each between 0 and 1; of several questions, the mean. `questions`: how many."""

    ndcg_10: float = 0.0
    recall_10: float = 0.0
    recall_20: float = 0.0
    mrr_10: float = 0.0
    questions: int = 1


MEASURES = tuple(field.name for field in fields(Scores) if field.name != "questions")


def score(ranked: Sequence[str], relevant: Mapping[str, float]) -> Scores:
    """Scores of one ranking, best first, against the grade of each relevant note.

    nDCG with linear gain (Järvelin and Kekäläinen 2002, as BEIR computes it). Without a
    relevant note everything is 0. A name that is ranked twice counts once.
    """
    grades = {name: grade for name, grade in relevant.items() if grade > 0}
    names = list(dict.fromkeys(ranked))
    if not grades:
        return Scores()
    gained = sum(
        grades.get(name, 0.0) / math.log2(rank + 1) for rank, name in enumerate(names[:10], 1)
    )
    best = sorted(grades.values(), reverse=True)[:10]
    ideal = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(best, 1))
    return Scores(
        ndcg_10=gained / ideal,
        recall_10=len(grades.keys() & set(names[:10])) / len(grades),
        recall_20=len(grades.keys() & set(names[:20])) / len(grades),
        mrr_10=next((1 / rank for rank, name in enumerate(names[:10], 1) if name in grades), 0.0),
    )


def mean(rows: Iterable[Scores]) -> Scores:
    """The mean of each measure; of nothing, zeros for no question."""
    each = list(rows)
    if not each:
        return Scores(questions=0)
    count = len(each)
    sums = {name: sum(getattr(row, name) for row in each) for name in MEASURES}
    return replace(Scores(questions=count), **{name: value / count for name, value in sums.items()})


def mean_by(rows: Iterable[tuple[str, Scores]]) -> dict[str, Scores]:
    """The mean of each group, by name in order."""
    groups: dict[str, list[Scores]] = defaultdict(list)
    for name, scores in rows:
        groups[name].append(scores)
    return {name: mean(groups[name]) for name in sorted(groups)}


def part_of(identifier: str) -> str:
    """ "dev" or "test", by the first hex digit of the SHA-1 of a question's id.

    Settings are tuned on dev alone, so that test says what they are worth.
    """
    digest = hashlib.sha1(identifier.encode(), usedforsecurity=False).hexdigest()
    return "dev" if int(digest[0], 16) % 2 == 0 else "test"


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` (0..1) of `values` do not exceed; 0 of none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
