"""An evaluation as a row: begun on a page, worked at in slices, cancelled, read again."""

from __future__ import annotations

import time
from dataclasses import asdict, fields
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from providers.models import EmbeddingModel
from retrieval.core.filters import Filter
from retrieval.core.metrics import Scores
from retrieval.core.types import Fusion, Knobs, Mode
from retrieval.evaluation.questions import golden_notes, read_golden_notes
from retrieval.evaluation.scoring import (
    Answered,
    ask_all,
    metrics_of,
    questions_of,
    scores_json,
)
from retrieval.models import EvalQuestion, EvalRun
from vault.access import evaluated_by, whole_vault
from vault.models import Chunk, Note, Vault
from vault.staleness import fingerprint

# Questions between two looks at whether somebody cancelled.
_BATCH = 5
# What of an index decides which passages there are and how they are compared.
SIZES = ("space", "chunk_tokens", "chunk_overlap", "chunk_minimum")


def start_run(
    vault: Vault,
    *,
    knobs: Knobs,
    user: User | None,
    label: str = "",
    model: EmbeddingModel | None = None,
    most: int | None = None,
) -> EvalRun:
    """A queued run over the golden questions of `vault` as they are now.

    `model`: to be asked in place of the one that serves. `most`: so many questions, evenly
    of all classes.
    """
    read_golden_notes(vault)
    ids = some_of(vault, most)
    return EvalRun.objects.create(
        vault=vault,
        user=user,
        label=label[:100],
        knobs=asdict(knobs),
        trial_model=model,
        index=index_of(vault, model),
        pending=ids,
        total=len(ids),
    )


def some_of(vault: Vault, most: int | None) -> list[int]:
    """Ids of the questions of `vault` that can be asked: all, or `most` of all classes."""
    ids = [int(question.key) for question in questions_of(vault)]
    if most is not None and len(ids) > most:
        ids = [ids[number * len(ids) // most] for number in range(most)]
    return ids


def go_on(run_id: int, *, most_seconds: float) -> EvalRun | None:
    """Work at a run for about that long; None when it is gone.

    What was asked is committed every few questions, so a run that is killed goes on where
    it was. Whoever started it must still be allowed to measure this vault.
    """
    runs = EvalRun.objects.select_related("vault", "asked_vault", "user", "trial_model__provider")
    run = runs.filter(pk=run_id).first()
    if run is None or not run.is_open:
        return run
    if run.user is not None and not evaluated_by(run.user).filter(pk=run.vault_id).exists():
        return _end(run, EvalRun.State.FAILED, _("Who started it may no longer do so."))
    if run.size_trial_id is not None and run.asked_vault is None:
        return _end(run, EvalRun.State.FAILED, _("The copies that were asked are gone."))
    until = time.monotonic() + most_seconds
    _open(run).update(state=EvalRun.State.RUNNING)
    while run.pending and time.monotonic() < until:
        if not _ask_some(run):
            run.refresh_from_db()
            return run
    return run if run.pending else _end(run, EvalRun.State.DONE, "")


def cancel_run(run: EvalRun) -> bool:
    """Stop a run: what was asked is kept and measured. False: it was over already."""
    run.refresh_from_db()
    if not run.is_open:
        return False
    _end(run, EvalRun.State.CANCELLED, "")
    return True


def index_of(vault: Vault, model: EmbeddingModel | None = None) -> dict[str, Any]:
    """What questions are asked of: a change of any of these may change every rank. `model`:
    in place of the one that serves."""
    model = model or vault.embedding_model
    notes = Note.objects.filter(vault=vault, status=Note.Status.INDEXED)
    return {
        "embedding_model": str(model or ""),
        "space": fingerprint(model) if model else "",
        "chunk_tokens": vault.chunk_tokens,
        "chunk_overlap": vault.chunk_overlap,
        "chunk_minimum": vault.chunk_minimum,
        "notes": notes.count(),
        "chunks": Chunk.objects.filter(vault=vault).count(),
    }


def knobs_from(stored: dict[str, Any]) -> Knobs:
    """Knobs as a row keeps them; what this version does not know is left out."""
    names = {each.name for each in fields(Knobs)}
    known = {name: value for name, value in stored.items() if name in names}
    known["mode"] = Mode(known.get("mode", Mode.HYBRID))
    known["fusion"] = Fusion(known.get("fusion", Fusion.CONVEX))
    known["filters"] = tuple(Filter(**each) for each in known.get("filters", ()))
    return Knobs(**known)


def scores_by_question(run: EvalRun) -> dict[str, Scores]:
    """The scores of each question of a run, by its text."""
    return {row["text"]: Scores(**row["scores"]) for row in run.results}


def previous_of(run: EvalRun) -> EvalRun | None:
    """The run of the same vault that was done before; of a trial the one it is measured by."""
    if run.against is not None:
        return run.against
    before = Q(created__lt=run.created) | Q(created=run.created, pk__lt=run.pk)
    done = EvalRun.objects.of_what_serves().filter(before, vault_id=run.vault_id)
    return done.filter(state=EvalRun.State.DONE).first()


def is_out_of_date(run: EvalRun, *, knobs: Knobs) -> bool:
    """Whether model, chunking or settings changed since: the figures may be others now."""
    now = index_of(run.vault)
    is_other_index = any(run.index.get(name) != now[name] for name in SIZES)
    known = set(EvalQuestion.objects.filter(vault=run.vault).values_list("text", flat=True))
    is_other_set = known != {row["text"] for row in run.results}
    return is_other_index or is_other_set or knobs_from(run.knobs) != knobs


def _ask_some(run: EvalRun) -> bool:
    """Ask the next few questions and commit them. False: the run is over meanwhile."""
    ids = run.pending[:_BATCH]
    golden = [note.path for note in golden_notes(run.vault)]
    found = ask_all(
        questions_of(run.vault, ids),
        scope=whole_vault(run.asked_vault or run.vault),
        knobs=knobs_from(run.knobs),
        without=golden,
        serving=run.trial_model,
    )
    run.pending = run.pending[_BATCH:]
    run.results = [*run.results, *map(_row, found.answers)]
    return bool(_open(run).update(pending=run.pending, results=run.results))


def _row(answer: Answered) -> dict[str, Any]:
    return {
        "question": int(answer.asked.key),
        "text": answer.asked.text,
        "class": answer.asked.question_class,
        "language": answer.asked.language,
        "ranks": answer.ranks,
        "top": list(answer.top),
        "scores": scores_json(answer.scores),
        "ms": answer.ms,
        "unmeant": answer.unmeant,
    }


def _end(run: EvalRun, state: EvalRun.State, error: str) -> EvalRun:
    rows = [
        (row["class"], row["language"], Scores(**row["scores"]), row["ms"]) for row in run.results
    ]
    _open(run).update(state=state, error=error, metrics=metrics_of(rows), finished=timezone.now())
    run.refresh_from_db()
    return run


def _open(run: EvalRun) -> Any:
    return EvalRun.objects.filter(pk=run.pk, state__in=EvalRun.OPEN)
