"""What the queue calls to remove deleted vaults, and how edges ask for it."""

from __future__ import annotations

from providers.models import EmbeddingModel
from vault import jobs
from vault.jobs import Again, GiveUp
from vault.locks import Busy
from vault.models import Job
from vault.removal import UNDO_TIME, remove_rows
from vault.tasks import BUSY_AGAIN, request_lexemes, request_sync, request_vector_index
from vault.trial_copies import copies_left

REMOVE_SLICE = 3.0
# The job looks a moment after the time to undo is over, not a moment before.
AFTER = UNDO_TIME.total_seconds() + 1.0


def request_removal(vault_id: int) -> Job:
    """Ask for a deleted vault to be removed, when it cannot be brought back any more.

    The job does not hang on the vault: it has to outlive it.
    """
    payload = {"vault": vault_id}
    return jobs.want("remove", key=f"remove:{vault_id}", payload=payload, after=AFTER)


def request_copies_removal() -> None:
    """Ask for the copies of notes to be removed that trials have left, now."""
    for vault_id in copies_left().order_by("pk"):
        jobs.want("remove", key=f"remove:{vault_id}", payload={"vault": vault_id})


def call_off_removal(vault_id: int) -> None:
    """A vault was brought back: nothing is to be removed, and its files are looked at."""
    jobs.take_over(f"remove:{vault_id}")
    request_sync(vault_id)


def remove_job(job: Job) -> Again | None:
    """Remove a deleted vault for a while; once more while something is left."""
    vault_id = job.payload.get("vault")
    if not isinstance(vault_id, int):
        raise GiveUp("The job names no vault.")
    done = int(job.progress.get("done", 0))

    def progress(removed: int) -> None:
        nonlocal done
        done += removed
        jobs.report(job, stage="remove", done=done)

    try:
        is_gone = remove_rows(vault_id, most_seconds=REMOVE_SLICE, on_progress=progress)
    except Busy:
        return Again(after=BUSY_AGAIN)
    if not is_gone:
        return Again()
    if done:
        request_lexemes()
        for model in EmbeddingModel.objects.all():
            request_vector_index(model.pk)
    return None
