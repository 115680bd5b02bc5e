"""Evaluations, ready to be set: figures, bars, what became of each question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from retrieval.core.comparing import Change, Comparison
from retrieval.core.metrics import MEASURES, Scores
from retrieval.core.types import Knobs
from retrieval.evaluation.changes import Fall
from retrieval.evaluation.runs import knobs_from
from retrieval.knob_form import describe, knob_query
from retrieval.models import EvalRun

TITLES = {
    "ndcg_10": "nDCG@10",
    "recall_10": "recall@10",
    "recall_20": "recall@20",
    "mrr_10": "MRR@10",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One measure: its value as text, and the width of its bar in percent. `delta` is
    against the other run ("+0.012"), `trend` "up", "down" or ""."""

    title: str
    text: str
    width: int
    delta: str = ""
    trend: str = ""


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A class, a language or all, with its figures in the order of TITLES."""

    name: str
    questions: int
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class ExpectedNote:
    """A note that should have been found. `rank` is None beyond the twentieth."""

    path: str
    url: str
    rank: int | None


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """What became of one question."""

    text: str
    question_class: str
    language: str
    expected: tuple[ExpectedNote, ...]
    top: tuple[str, ...]
    ndcg: str
    state: str
    lab_url: str


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in the list: when, by whom, under what, and how good."""

    run: EvalRun
    knobs: str
    who: str
    figures: tuple[Figure, ...]
    url: str


@dataclass(frozen=True, slots=True)
class FallRow:
    """That a change made search worse: how much, how many questions, where to see which."""

    verdict: str
    worse: int
    better: int
    url: str


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A question whose answers came earlier or later than in the other run."""

    text: str
    before: str
    after: str
    delta: str


def figures(scores: Mapping[str, float], before: Mapping[str, float] | None) -> tuple[Figure, ...]:
    """The measures of `scores`, each against `before` where there is one."""
    return tuple(
        _figure(name, scores.get(name, 0.0), before.get(name, 0.0) if before else None)
        for name in MEASURES
    )


def figure_rows(
    metrics: Mapping[str, Any], group: str, before: Mapping[str, Any] | None = None
) -> list[FigureRow]:
    """The rows of one group ("by_class", "by_language") of a run's metrics."""
    others = (before or {}).get(group, {})
    return [
        FigureRow(
            name or _("without a class"),
            int(scores["questions"]),
            figures(scores, others.get(name)),
        )
        for name, scores in metrics.get(group, {}).items()
    ]


def question_rows(run: EvalRun, slug: str, base: Knobs) -> list[QuestionRow]:
    """Every question of `run`, the worst first."""
    turned = knob_query(knobs_from(run.knobs), base)
    rows = sorted(run.results, key=lambda row: (row["scores"]["ndcg_10"], row["text"]))
    return [_question_row(row, slug, turned) for row in rows]


def run_rows(
    runs: Sequence[EvalRun], slug: str, base: Knobs, *, names: Mapping[int, str]
) -> list[RunRow]:
    """Runs, newest first, each against the one that was done before it, a trial against the
    one it is measured by."""
    done = [run for run in runs if run.state == EvalRun.State.DONE]
    before = dict(pairwise(run for run in done if not run.is_trial))
    by_id = {run.pk: run for run in done}
    return [
        _run_row(run, before.get(run) or by_id.get(run.against_id or 0), slug, base, names)
        for run in runs
    ]


def change_rows(changes: Sequence[Change]) -> list[ChangeRow]:
    """Questions that changed, with both values of nDCG@10."""
    return [
        ChangeRow(
            change.key,
            f"{change.before.ndcg_10:.3f}",
            f"{change.after.ndcg_10:.3f}",
            _signed(change.delta),
        )
        for change in changes
    ]


def verdict(found: Comparison) -> str:
    """In a sentence whether the second run is better than the first."""
    values = {"delta": _signed(found.deltas["ndcg_10"]), "questions": found.before.questions}
    if not found.before.questions:
        return _("The two runs have no question in common.")
    if found.is_worse:
        return _("Worse: nDCG@10 %(delta)s over %(questions)d questions.") % values
    if found.is_better:
        return _("Better: nDCG@10 %(delta)s over %(questions)d questions.") % values
    return _("About the same: nDCG@10 %(delta)s over %(questions)d questions.") % values


def fall_row(fall: Fall | None) -> FallRow | None:
    """The notice of `fall`; None where nothing fell."""
    if fall is None:
        return None
    address = reverse("evaluation-run", args=[fall.run.vault.slug, fall.run.pk])
    return FallRow(
        verdict(fall.found),
        len(fall.found.worse),
        len(fall.found.better),
        f"{address}?{urlencode({'with': fall.before.pk})}",
    )


def with_changes(shown: Sequence[Figure], found: Comparison) -> tuple[Figure, ...]:
    """Figures of a whole run with what changed over the questions that the other one has, too."""
    if not found.before.questions:
        return tuple(shown)
    shared = figures(measures_of(found.after), measures_of(found.before))
    return tuple(
        replace(figure, delta=other.delta, trend=other.trend)
        for figure, other in zip(shown, shared, strict=True)
    )


def measures_of(scores: Scores) -> dict[str, float]:
    """Scores as figures wants them."""
    return {name: getattr(scores, name) for name in MEASURES}


def _figure(name: str, value: float, before: float | None) -> Figure:
    delta = "" if before is None else _signed(value - before)
    rounded = 0 if before is None else round(value - before, 3)
    trend = "up" if rounded > 0 else "down" if rounded < 0 else ""
    return Figure(TITLES[name], f"{value:.3f}", round(value * 100), delta, trend)


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−") if round(value, 3) else "±0"


def _question_row(row: Mapping[str, Any], slug: str, turned: dict[str, str]) -> QuestionRow:
    ranks: dict[str, int | None] = row["ranks"]
    found = [rank for rank in ranks.values() if rank is not None]
    state = "bad" if not found else "good" if row["scores"]["ndcg_10"] >= 0.999 else "fair"
    query = urlencode({"q": row["text"], "vault": slug, **turned})
    return QuestionRow(
        text=row["text"],
        question_class=row["class"],
        language=row["language"],
        expected=tuple(
            ExpectedNote(path, reverse("note", args=[slug, path]), rank)
            for path, rank in sorted(ranks.items(), key=lambda each: (each[1] or 99, each[0]))
        ),
        top=tuple(row["top"]),
        ndcg=f"{row['scores']['ndcg_10']:.3f}",
        state=state,
        lab_url=f"{reverse('lab')}?{query}",
    )


def _run_row(
    run: EvalRun, before: EvalRun | None, slug: str, base: Knobs, names: Mapping[int, str]
) -> RunRow:
    scores = run.metrics.get("all")
    return RunRow(
        run=run,
        knobs=describe(knobs_from(run.knobs), base),
        who=names.get(run.user_id or 0, "") or _("by itself"),
        figures=figures(scores, before.metrics["all"] if before else None)
        if scores and scores["questions"]
        else (),
        url=reverse("evaluation-run", args=[slug, run.pk]),
    )
