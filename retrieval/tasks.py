"""What the queue calls for search, and how pages ask for work."""

from __future__ import annotations

from retrieval.evaluation import go_on, start_due_runs, try_next_model
from retrieval.models import EvalRun
from retrieval.options import site_knobs
from vault import jobs
from vault.index_tasks import request_switch
from vault.jobs import Again, GiveUp
from vault.models import Job

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
