"""What the queue calls to look after the index, and how edges ask for it."""

from __future__ import annotations

from django.conf import settings
from django.utils import timezone

from providers.core.errors import ProviderError
from vault import jobs
from vault.checking import check_vault, claim_scheduled_check
from vault.enrichment import (
    EnrichProgress,
    clear_contexts,
    enrich_pending,
    enrich_settings,
    retry_contexts,
)
from vault.generations import (
    discard_expired,
    drop_orphans,
    finish_switch,
    is_agreed,
    ready_to_switch,
)
from vault.jobs import Again, GiveUp, RetryLater
from vault.locks import Busy
from vault.models import Job, Vault
from vault.size_trials import has_trials_to_tidy
from vault.tasks import (
    BUSY_AGAIN,
    SYNC_SLICE,
    await_index,
    request_embed,
    request_enrich,
    request_sync,
    request_vector_index,
)

CLEANUP_SLICE = 3.0
# One reply takes seconds: a slice is a handful of notes, and others have their turn.
ENRICH_SLICE = 3.0


def request_new_model(vault_id: int) -> None:
    """Ask for what follows when another model of a vault was chosen or called off."""
    request_sync(vault_id)  # another model may take shorter chunks
    request_embed(vault_id)
    request_cleanup(vault_id)
    for kind in settings.JOBS_AFTER_SWITCH:
        jobs.want(kind, key=kind)


def request_switch(vault_id: int) -> Job:
    """Ask for the next model to be tried and to serve, when it is ready."""
    return jobs.want("switch", key=f"switch:{vault_id}", vault_id=vault_id)


def request_cleanup(vault_id: int) -> Job:
    """Ask for vectors to be dropped that no model of the vault can use."""
    return jobs.want("cleanup", key=f"cleanup:{vault_id}", vault_id=vault_id)


def request_retried_contexts(vault_id: int) -> int:
    """Ask for the lines that failed to be tried again; returns of how many notes."""
    count = retry_contexts(vault_id)
    request_enrich(vault_id)
    return count


def request_tidied_trials() -> None:
    """Ask for trials of passage sizes to be looked after, and for what they left to go."""
    if has_trials_to_tidy():
        for kind in settings.JOBS_FOR_TRIALS:
            jobs.want(kind, key=kind)


def request_checks() -> None:
    """Ask for the index of every vault that is not paused to be checked."""
    for vault in Vault.objects.filter(state=Vault.State.ACTIVE).order_by("pk"):
        jobs.want("check", key=f"check:{vault.pk}", vault_id=vault.pk)


def request_scheduled_checks() -> None:
    """As `request_checks`, when the schedule says so."""
    if claim_scheduled_check(timezone.now()):
        request_checks()


def request_expired_cleanups() -> None:
    """Ask for the vectors to be dropped whose time as the way back is over."""
    for vault_id in discard_expired():
        request_cleanup(vault_id)


def switch_job(job: Job) -> Again | None:
    """Let a vault's next model serve, when it is ready and its vector index is built.

    Before that it is tried, where the settings name who does so: the trial asks for this job
    again when nothing speaks against the model.
    """
    vault_id = _vault_id(job)
    following = ready_to_switch(vault_id)
    if following is None:
        return None
    again = await_index(job, following)
    if again is not None:
        return again
    if settings.JOBS_BEFORE_SWITCH and not is_agreed(vault_id):
        for kind in settings.JOBS_BEFORE_SWITCH:
            jobs.want(kind, key=f"{kind}:{vault_id}", vault_id=vault_id)
        return None
    if finish_switch(vault_id):
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


def enrich_job(job: Job) -> Again | None:
    """Write context lines for a while, or take them away where they are off."""
    vault_id = _vault_id(job)
    try:
        if enrich_settings(vault_id) is None:
            cleared = clear_contexts(vault_id)
            return _go_on(vault_id, is_changed=cleared > 0, is_over=not cleared)
        report = _EnrichReporter(job)
        progress = enrich_pending(vault_id, most_seconds=ENRICH_SLICE, on_note=report.progress)
    except Busy:
        return Again(after=BUSY_AGAIN)
    except ProviderError as error:
        request_embed(vault_id)  # of what was written before
        reason = f"{error} {error.mend}"
        if error.permanent:
            raise GiveUp(reason) from error
        raise RetryLater(reason, seconds=error.retry_after) from error
    report.progress(progress)
    return _go_on(vault_id, is_changed=progress.lines > 0, is_over=not progress.left)


def _go_on(vault_id: int, *, is_changed: bool, is_over: bool) -> Again | None:
    if is_changed:
        request_embed(vault_id)
    return None if is_over else Again()


class _EnrichReporter:
    """Progress over all slices of a job: notes done of those that were due."""

    def __init__(self, job: Job) -> None:
        self.job = job
        is_new = not job.progress.get("left")
        self.before = {} if is_new else dict(job.progress)

    def progress(self, progress: EnrichProgress) -> None:
        done = int(self.before.get("done", 0)) + progress.notes
        jobs.report(
            self.job,
            stage="enrich",
            done=done,
            total=done + progress.left,
            left=progress.left,
            per_second=round(progress.per_second, 2),
            failed=int(self.before.get("failed", 0)) + progress.failed,
        )
        if progress.notes:
            jobs.note_headway(self.job)


def check_job(job: Job) -> Again | None:
    """Check a vault's index, and ask for what was found to be missing."""
    vault_id = _vault_id(job)
    try:
        run = check_vault(
            vault_id,
            most_seconds=SYNC_SLICE,
            on_stage=lambda stage: jobs.report(job, stage=f"check-{stage}"),
        )
    except Busy:
        return Again(after=BUSY_AGAIN)
    if run.counts.get("left"):
        request_sync(vault_id)
    if run.counts.get("orphans"):
        request_cleanup(vault_id)
    if run.counts.get("vectors") or ready_to_switch(vault_id):
        request_embed(vault_id)
    return None


def _vault_id(job: Job) -> int:
    if job.vault_id is None:
        raise GiveUp("The job names no vault.")
    return job.vault_id
