"""What the queue calls for search, and how pages ask for work."""

from __future__ import annotations

from providers.core.errors import ProviderError
from retrieval.evaluation import go_on, start_due_runs, try_next_model
from retrieval.evaluation.sizes import (
    end_abandoned_trials,
    end_trial,
    go_on_with_trial,
    key_of,
    note_trouble,
)
from retrieval.models import EvalRun
from retrieval.options import site_knobs
from vault import jobs
from vault.index_tasks import request_switch
from vault.jobs import Again, GiveUp, RetryLater
from vault.locks import Busy
from vault.models import Job, SizeTrial
from vault.removal_tasks import request_copies_removal
from vault.tasks import BUSY_AGAIN

# Seconds of questions in one job: embedding notes never waits long behind it.
EVALUATE_SLICE = 3.0
# Seconds until vaults that are being read or embedded are looked at again.
SETTLED_AGAIN = 20.0


def request_evaluation(run: EvalRun) -> Job:
    """Ask for the questions of `run` to be asked."""
    return jobs.want("evaluate", key=f"evaluate:{run.pk}", payload={"run": run.pk})


def evaluate_job(job: Job) -> Again | None:
    """Ask for a few seconds; once more while questions are left."""
    run_id = job.payload.get("run")
    if not isinstance(run_id, int):
        raise GiveUp("The job names no run.")
    run = go_on(run_id, most_seconds=EVALUATE_SLICE)
    if run is None or not run.is_open:
        return None
    jobs.report(job, stage="evaluate", done=run.done, total=run.total)
    return Again()


def request_changed_evaluations() -> Job:
    """Something changed by which questions may be found better or less well."""
    return jobs.want("evaluate_changes", key="evaluate_changes")


def evaluate_changes_job(job: Job) -> Again | None:
    """Begin the runs that are due; look again while a vault is at work.

    The settings have it after a sync and after a switch of models.
    """
    started, is_waiting = start_due_runs(site_knobs())
    for run in started:
        request_evaluation(run)
    return Again(after=SETTLED_AGAIN) if is_waiting else None


def try_switch_job(job: Job) -> Again | None:
    """Ask golden questions of a vault's next model for a few seconds; in the end ask for the
    switch, which is made unless an owner has to be asked."""
    if job.vault_id is None:
        raise GiveUp("The job names no vault.")
    trial = try_next_model(job.vault_id, knobs=site_knobs(), most_seconds=EVALUATE_SLICE)
    if trial is None:
        request_switch(job.vault_id)
        return None
    done = trial.done + (trial.against.done if trial.against else 0)
    jobs.report(job, stage="try_switch", done=done, total=2 * trial.total)
    return Again()


def request_trial(trial: SizeTrial) -> Job:
    """Ask for other sizes of passages to be tried."""
    payload = {"trial": trial.pk}
    return jobs.want("try_sizes", key=key_of(trial.pk), vault_id=trial.vault_id, payload=payload)


def try_sizes_job(job: Job) -> Again | None:
    """Work at a trial of passage sizes for a few seconds; in the end its copies are removed."""
    trial_id = job.payload.get("trial")
    if not isinstance(trial_id, int):
        raise GiveUp("The job names no trial.")
    try:
        trial = go_on_with_trial(trial_id, knobs=site_knobs(), most_seconds=EVALUATE_SLICE)
    except Busy:
        return Again(after=BUSY_AGAIN)
    except ProviderError as error:
        _put_off(job, trial_id, f"{error} {error.mend}")
        raise RetryLater(str(error), seconds=error.retry_after) from error
    except Exception as error:  # the outer edge of a task: the page says why it waits
        _put_off(job, trial_id, f"{type(error).__name__}: {error}")
        raise
    if trial is not None and trial.is_open:
        jobs.report(job, stage="try_sizes", done=trial.done, total=trial.total)
        return Again()
    request_copies_removal()
    return None


def _put_off(job: Job, trial_id: int, reason: str) -> None:
    """Tell why a trial waits; after the last attempt, that it failed."""
    if job.attempts < job.most_attempts:
        note_trouble(trial_id, reason)
        return
    trial = SizeTrial.objects.filter(pk=trial_id).first()
    if trial is not None:
        end_trial(trial, SizeTrial.State.FAILED, reason)
    request_copies_removal()


def stop_trial(trial: SizeTrial) -> bool:
    """End a trial that goes on and ask for its copies to be removed. False: it was over."""
    trial.refresh_from_db()
    if not trial.is_open:
        return False
    end_trial(trial, SizeTrial.State.CANCELLED)
    request_copies_removal()
    return True


def tidy_trials_job(job: Job) -> Again | None:
    """End trials that nobody works at any more, and have what they left removed."""
    end_abandoned_trials()
    request_copies_removal()
    return None
