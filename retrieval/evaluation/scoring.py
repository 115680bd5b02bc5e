"""Ask questions whose answers are known, and measure where the answers come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from asgiref.sync import async_to_sync

from providers.models import EmbeddingModel
from retrieval.core.metrics import DEPTH, Scores, mean, mean_by, percentile, score
from retrieval.core.types import Hit, Knobs
from retrieval.models import EvalQuestion
from retrieval.search import search_notes
from vault.core.types import Scope
from vault.models import Vault

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the grade of every note (by path) that answers it."""

    key: str
    text: str
    relevant: dict[str, float]
    question_class: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of a question. `ranks`: by path, from 1, None beyond DEPTH; `top`: the
    first few paths found; `ms`: milliseconds; `unmeant`: why it was not asked by meaning."""

    asked: Asked
    scores: Scores
    ranks: dict[str, int | None]
    top: tuple[str, ...]
    ms: float
    unmeant: str = ""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Every answer, and their means."""

    answers: tuple[Answered, ...] = field(default_factory=tuple)

    @property
    def metrics(self) -> dict[str, Any]:
        """Means over all, by class and by language, and milliseconds: as JSON has them."""
        return metrics_of(
            [(a.asked.question_class, a.asked.language, a.scores, a.ms) for a in self.answers]
        )


def metrics_of(rows: Sequence[tuple[str, str, Scores, float]]) -> dict[str, Any]:
    """Means of (class, language, scores, milliseconds) rows: as JSON has them."""
    times = [ms for *_rest, ms in rows]
    return {
        "all": scores_json(mean(scores for _c, _l, scores, _ms in rows)),
        "by_class": {
            name: scores_json(each)
            for name, each in mean_by((kind, scores) for kind, _l, scores, _ms in rows).items()
        },
        "by_language": {
            name: scores_json(each)
            for name, each in mean_by((lang, scores) for _c, lang, scores, _ms in rows).items()
        },
        "ms": {"p50": round(percentile(times, 0.5), 1), "p95": round(percentile(times, 0.95), 1)},
    }


def ask_all(
    questions: Sequence[Asked],
    *,
    scope: Scope,
    knobs: Knobs,
    without: Iterable[str] = (),
    on_answer: Callable[[int], bool] | None = None,
    serving: EmbeddingModel | None = None,
) -> Evaluation:
    """Ask each question in `scope` under `knobs`, rank notes by their path.

    `without`: paths that do not count, such as the note the questions stand in.
    `on_answer` hears how many are done and returns False to stop there. `serving`: the model
    that is asked in place of the one that serves.
    """
    left_out = frozenset(without)
    answers: list[Answered] = []
    for question in questions:
        answers.append(_ask(question, scope=scope, knobs=knobs, left_out=left_out, serving=serving))
        if on_answer is not None and not on_answer(len(answers)):
            break
    return Evaluation(tuple(answers))


def questions_of(vault: Vault, ids: Sequence[int] | None = None) -> list[Asked]:
    """The golden questions of `vault` that have a note left to be found, or those of `ids`."""
    rows = EvalQuestion.objects.filter(vault=vault).prefetch_related("expected")
    chosen = rows if ids is None else rows.filter(pk__in=ids)
    return [
        Asked(
            key=str(row.pk),
            text=row.text,
            relevant=dict.fromkeys((note.path for note in row.expected.all()), 1.0),
            question_class=row.question_class,
            language=row.language,
        )
        for row in chosen
        if row.expected.all()
    ]


def scores_json(scores: Scores) -> dict[str, float]:
    """Scores with four digits."""
    return {name: round(value, 4) for name, value in asdict(scores).items()}


def _ask(
    question: Asked,
    *,
    scope: Scope,
    knobs: Knobs,
    left_out: frozenset[str],
    serving: EmbeddingModel | None,
) -> Answered:
    started = time.monotonic()
    found = async_to_sync(search_notes)(
        question.text,
        scope=scope,
        mode=knobs.mode,
        limit=DEPTH + len(left_out),
        knobs=knobs,
        serving=serving,
    )
    ms = round((time.monotonic() - started) * 1000, 1)
    counted = (path for hit in found.hits for path in _counted(hit, question, left_out))
    ranked = list(dict.fromkeys(counted))[:DEPTH]
    places = {path: rank for rank, path in enumerate(ranked, 1)}
    return Answered(
        asked=question,
        scores=score(ranked, question.relevant),
        ranks={path: places.get(path) for path in question.relevant},
        top=tuple(ranked[:SHOWN]),
        ms=ms,
        unmeant=next(
            (arm.reason for arm in found.arms if arm.name == "meaning" and not arm.ran), ""
        ),
    )


def _counted(hit: Hit, question: Asked, left_out: frozenset[str]) -> list[str]:
    """The path that a hit counts as, and those of its copies that answer the question too."""
    copies = [copy.path for copy in hit.also_in if copy.path in question.relevant]
    lead = [hit.path] if hit.path in question.relevant or not copies else []
    return [path for path in (*lead, *copies) if path not in left_out]
