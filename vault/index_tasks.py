"""What the queue calls to look after the index, and how edges ask for it."""

from __future__ import annotations

from vault import jobs
from vault.generations import discard_expired, drop_orphans, finish_switch
from vault.jobs import Again, GiveUp
from vault.locks import Busy
from vault.models import Job
from vault.tasks import BUSY_AGAIN, request_embed, request_sync, request_vector_index

CLEANUP_SLICE = 3.0


def request_new_model(vault_id: int) -> None:
    """Ask for what follows when another model of a vault was chosen or called off."""
    request_sync(vault_id)  # another model may take shorter chunks
    request_embed(vault_id)
    request_cleanup(vault_id)


def request_cleanup(vault_id: int) -> Job:
    """Ask for vectors to be dropped that no model of the vault can use."""
    return jobs.want("cleanup", key=f"cleanup:{vault_id}", vault_id=vault_id)


def request_expired_cleanups() -> None:
    """Ask for the vectors to be dropped whose time as the way back is over."""
    for vault_id in discard_expired():
        request_cleanup(vault_id)


def switch_job(job: Job) -> Again | None:
    """Let a vault's next model serve, when it is ready."""
    vault_id = _vault_id(job)
    try:
        is_done = finish_switch(vault_id)
    except Busy:
        return Again(after=BUSY_AGAIN)
    if is_done:
        request_new_model(vault_id)
    return None


def cleanup_job(job: Job) -> Again | None:
    """Drop vectors for a while; once more while there are some."""
    vault_id = _vault_id(job)
    try:
        models, deleted = drop_orphans(vault_id, most_seconds=CLEANUP_SLICE)
    except Busy:
        return Again(after=BUSY_AGAIN)
    if not models:
        return None
    jobs.report(job, done=int(job.progress.get("done", 0)) + deleted)
    for model in models:
        request_vector_index(model.pk)
    return Again()


def _vault_id(job: Job) -> int:
    if job.vault_id is None:
        raise GiveUp("The job names no vault.")
    return job.vault_id
