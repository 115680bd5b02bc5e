"""Golden questions asked under a vault's next embedding model, before it may serve."""

from __future__ import annotations

import time
from typing import Any

from django.utils.translation import gettext as _

from retrieval.core.comparing import compare
from retrieval.core.types import Knobs
from retrieval.evaluation.runs import go_on, scores_by_question, start_run
from retrieval.models import EvalRun
from vault.generations import judge_switch, ready_to_switch
from vault.models import Vault

# Each is asked twice, and the model waits for it.
MOST_QUESTIONS = 60
# Questions that are told as examples of what is found less well.
_MOST_EXAMPLES = 5


def try_next_model(vault_id: int, *, knobs: Knobs, most_seconds: float) -> EvalRun | None:
    """Work at the trial of the model that is to serve a vault; None when it is over.

    Questions are asked of the model that serves and of the next one, over the same notes.
    What was asked is kept, so a trial that is killed goes on where it was. In the end the
    switch is agreed to, or held with the figures until an owner decides: when nDCG@10 fell by
    more than chance. Without golden questions nothing speaks against the model.
    """
    vault = Vault.objects.select_related("next_embedding_model").get(pk=vault_id)
    model = ready_to_switch(vault_id)
    if model is None or vault.switch_verdict:
        return None
    trial = _trial_of(vault, knobs)
    if trial is None:
        judge_switch(vault_id, model, report={})
        return None
    until = time.monotonic() + most_seconds
    for run in (trial.against, trial):
        left = until - time.monotonic()
        if run is not None and run.is_open and left > 0:
            go_on(run.pk, most_seconds=left)
    trial = EvalRun.objects.select_related("against").get(pk=trial.pk)
    if trial.is_open or (trial.against is not None and trial.against.is_open):
        return trial
    judge_switch(vault_id, model, report=_report(trial))
    return None


def _trial_of(vault: Vault, knobs: Knobs) -> EvalRun | None:
    """The trial that is under way, or a new one; None when there is nothing to ask."""
    model = vault.next_embedding_model
    begun = EvalRun.objects.filter(vault=vault, trial_model=model, state__in=EvalRun.OPEN)
    found = begun.select_related("against").first()
    if found is not None:
        return found
    label = _("before a switch to %(model)s") % {"model": model}
    before = start_run(vault, knobs=knobs, user=None, label=label, most=MOST_QUESTIONS)
    if not before.total:
        before.delete()
        return None
    label = _("under %(model)s, before it serves") % {"model": model}
    trial = start_run(vault, knobs=knobs, user=None, label=label, model=model, most=MOST_QUESTIONS)
    trial.against = before
    trial.save(update_fields=["against"])
    return trial


def _report(trial: EvalRun) -> dict[str, Any]:
    """What an owner is told of a trial that went worse; nothing of any other."""
    if trial.against is None:
        return {}
    found = compare(scores_by_question(trial.against), scores_by_question(trial))
    if not found.is_worse:
        return {}
    return {
        "run": trial.pk,
        "questions": len(found.better) + len(found.worse) + found.same,
        "before": round(found.before.ndcg_10, 3),
        "after": round(found.after.ndcg_10, 3),
        "better": len(found.better),
        "worse": len(found.worse),
        "examples": [change.key for change in found.worse[:_MOST_EXAMPLES]],
    }
