"""What the queue calls for search, and how pages ask for work."""

from __future__ import annotations

from retrieval.evaluation import go_on
from retrieval.models import EvalRun
from vault import jobs
from vault.jobs import Again, GiveUp
from vault.models import Job

# Seconds of questions in one job: embedding notes never waits long behind it.
EVALUATE_SLICE = 3.0


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
