"""What the queue calls, and how edges ask for work. Payloads are ids only."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import structlog
from django.conf import settings
from django.utils import timezone

from providers.core.errors import ProviderError
from providers.models import EmbeddingModel
from vault import jobs
from vault.embedding import EmbedProgress, GoOn, embed_pending
from vault.enrichment import has_due
from vault.generations import ready_to_switch
from vault.jobs import Again, GiveUp, RetryLater
from vault.lexemes import refresh_lexemes
from vault.locks import Busy
from vault.models import Job, SyncRun
from vault.noise import is_noise_due, measure_noise
from vault.note_vectors import has_due_notes
from vault.refusals import mark_failed
from vault.rescrub import rescrub_vault
from vault.staleness import has_pending, models_of
from vault.sync import SyncProgress, sync_vault
from vault.vector_index import IndexBuildFailed, IndexWork, build_progress, work_on_index

# Seconds of work in one job: short ones can be killed at little loss, and a question
# never waits behind a long one.
SYNC_SLICE = 30.0
EMBED_SLICE = 3.0
# Somebody else is at it: look again after this many seconds.
BUSY_AGAIN = 3.0
# The database builds an index: look again after this many seconds.
INDEX_AGAIN = 2.0
REPORT_EVERY = 0.5
# Slices of an embedding job between two counts of what is left.
COUNT_EVERY = 10
DEATHS_ALONE = 2
# Every file is hashed once in this time, whatever its size and date say.
FULL_EVERY = timedelta(hours=24)
# An embedding job that failed for good is wanted again by a scan after this time.
FAILED_AGAIN = timedelta(hours=1)


log = structlog.get_logger("vault.tasks")


def run_job(job_id: int) -> bool:
    """The queue's entry: do a job if it is still to be done."""
    return jobs.run(job_id)


def sing() -> bool:
    """The canary: its acknowledgement proves that the queue works from end to end."""
    return True


def request_sync(vault_id: int) -> Job:
    """Ask for a sync of a vault."""
    return jobs.want("sync", key=f"sync:{vault_id}", vault_id=vault_id)


def request_embed(vault_id: int) -> Job:
    """Ask for the stale chunks of a vault to be embedded."""
    return jobs.want("embed", key=f"embed:{vault_id}", vault_id=vault_id)


def request_enrich(vault_id: int) -> Job:
    """Ask for the context lines of a vault to be brought in line with its settings."""
    return jobs.want("enrich", key=f"enrich:{vault_id}", vault_id=vault_id)


def request_rescrub(vault_id: int) -> Job:
    """Ask for what is stored of a vault to be scrubbed by the rules of this version."""
    return jobs.want("rescrub", key=f"rescrub:{vault_id}", vault_id=vault_id)


def request_lexemes(*, after: float = 0.0) -> Job:
    """Ask for the word counts to be brought up to date."""
    return jobs.want("lexemes", key="lexemes", after=after)


def request_vector_index(model_id: int) -> Job:
    """Ask for the vector index of an embedding model to be built or dropped."""
    payload = {"embedding_model": model_id}
    return jobs.want("vector_index", key=f"vector_index:{model_id}", payload=payload)


def sync_vault_job(job: Job) -> Again | None:
    """Sync for a while; once more when there is more or a file was being written."""
    vault_id = _vault_id(job)
    report = _Reporter(job)
    try:
        run = sync_vault(
            vault_id,
            full=_is_full_due(vault_id),
            most_seconds=SYNC_SLICE,
            on_progress=report.sync,
        )
    except Busy:
        return Again(after=BUSY_AGAIN)
    if run.counts["changes"]:
        request_lexemes(after=1.0)
        for kind in settings.JOBS_AFTER_SYNC:
            jobs.want(kind, key=kind)
    if _is_embedding_due(vault_id, changed=bool(run.counts["changes"])):
        request_embed(vault_id)
    if has_due(vault_id) and not _failed_lately(
        f"enrich:{vault_id}", but=bool(run.counts["changes"])
    ):
        request_enrich(vault_id)
    if run.counts.get("left"):
        return Again()
    return Again(after=BUSY_AGAIN) if run.counts.get("busy") else None


def rescrub_vault_job(job: Job) -> Again | None:
    """Scrub what is stored of a vault; then it is read again, and embedded where it changed."""
    vault_id = _vault_id(job)
    try:
        done = rescrub_vault(vault_id, on_progress=_Reporter(job).rescrub)
    except Busy:
        return Again(after=BUSY_AGAIN)
    request_sync(vault_id)
    if done.changed:
        request_embed(vault_id)
    return None


def embed_vault_job(job: Job) -> Again | None:
    """Embed for a few seconds; once more while something is left."""
    vault_id = _vault_id(job)
    report = _EmbedReporter(job)
    try:
        progress = embed_pending(
            vault_id,
            most_seconds=EMBED_SLICE,
            go_on=report.go_on(suspects=_suspects(job)),
            on_progress=report.progress,
            on_batch=report.batch,
        )
    except Busy:
        return Again(after=BUSY_AGAIN)
    except ProviderError as error:
        reason = f"{error} {error.mend}"
        if error.permanent:
            raise GiveUp(reason) from error
        raise RetryLater(reason, seconds=error.retry_after) from error
    report.ended(progress)
    if progress.left:
        return Again()
    for model in models_of(vault_id):
        request_vector_index(model.pk)
        _measure(model)
    if ready_to_switch(vault_id):
        jobs.want("switch", key=f"switch:{vault_id}", vault_id=vault_id)
    return None


def _measure(model: EmbeddingModel) -> None:
    """Where chance ends under `model`. Without it search goes on, and calls nothing far."""
    try:
        measure_noise(model)
    except ProviderError as error:
        log.warning("noise_not_measured", model=model.pk, error=error.code)


def refresh_lexemes_job(job: Job) -> Again | None:
    """Bring the word counts up to date."""
    try:
        refresh_lexemes()
    except Busy:
        return Again(after=BUSY_AGAIN)
    return None


def vector_index_job(job: Job) -> Again | None:
    """Build or drop the vector index of a model, as its number of vectors asks for."""
    model = EmbeddingModel.objects.filter(pk=job.payload.get("embedding_model")).first()
    if model is None:
        return None
    return await_index(job, model)


def await_index(job: Job, model: EmbeddingModel) -> Again | None:
    """See to a model's vector index; `Again` while the database builds it, which may take
    longer than a job may run."""
    try:
        if work_on_index(model) is not IndexWork.BUILDING:
            return None
    except IndexBuildFailed as error:
        raise RetryLater(str(error)) from error
    progress = build_progress(model)
    if progress is not None:
        jobs.report(job, stage="index", done=progress.done, total=progress.total)
    return Again(after=INDEX_AGAIN)


class _Reporter:
    """Writes a job's progress, at most twice a second."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.last = 0.0
        self.stage, self.began, self.first = "", 0.0, 0

    def sync(self, progress: SyncProgress) -> None:
        if self._is_time():
            self._count(progress.stage, progress.done, progress.total)

    def rescrub(self, done: int, total: int) -> None:
        if self._is_time():
            self._count("rescrub", done, total)

    def _count(self, stage: str, done: int, total: int) -> None:
        """Write how far a stage is, and how fast it goes since it was first looked at."""
        now = time.monotonic()
        if stage != self.stage:
            self.stage, self.began, self.first = stage, now, done
        seconds = now - self.began
        rate = round((done - self.first) / seconds, 1) if seconds > REPORT_EVERY else 0.0
        left = total - done if total else None
        jobs.report(self.job, stage=stage, done=done, total=total, per_second=rate, left=left)

    def _is_time(self) -> bool:
        now = time.monotonic()
        if now - self.last < REPORT_EVERY:
            return False
        self.last = now
        return True


class _EmbedReporter(_Reporter):
    """Progress over all slices of a job: `done` of `total`, from when it was wanted on."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        # What was wanted again after it had come to its end begins anew.
        self.has_headway = False
        is_new = not job.progress.get("left")
        self.before: dict[str, Any] = {} if is_new else dict(job.progress)

    def go_on(self, *, suspects: Sequence[int]) -> GoOn:
        """What earlier slices knew. Once in a while what is left is counted again."""
        before = self.before
        is_counted = before and int(before.get("slices", 0)) % COUNT_EVERY
        after = {str(model): int(pk) for model, pk in before.get("after", {}).items()}
        left = int(before["left"]) if is_counted else None
        return GoOn(left=left, after=after, suspects=suspects)

    def progress(self, progress: EmbedProgress) -> None:
        if progress.done and not self.has_headway:
            self.has_headway = True
            jobs.note_headway(self.job)
        if self._is_time():
            self._write(progress)

    def batch(self, chunk_ids: list[int]) -> None:
        """Note what is being sent, before it is: whoever dies at it is found out."""
        jobs.report(self.job, batch=chunk_ids)

    def ended(self, progress: EmbedProgress) -> None:
        """What the next slice starts with."""
        slices = int(self.before.get("slices", 0)) + 1
        self._write(progress, slices=slices, after=dict(progress.after))

    def _write(self, progress: EmbedProgress, **more: Any) -> None:
        done = int(self.before.get("done", 0)) + progress.done
        jobs.report(
            self.job,
            stage="embed",
            done=done,
            total=done + progress.left,
            left=progress.left,
            per_second=round(self._rate(progress.per_second), 1),
            failed=int(self.before.get("failed", 0)) + progress.failed,
            **more,
        )

    def _rate(self, now: float) -> float:
        """Of this slice and those before it, which weigh as much together."""
        before = float(self.before.get("per_second", 0))
        return (before + now) / 2 if before and now else now or before


def _suspects(job: Job) -> list[int]:
    """Chunks that the last attempt died at. One that was alone at two deaths is given up:
    one alone may have been killed by somebody, as any."""
    if job.last_error != jobs.DIED:
        return []
    batch = [int(pk) for pk in job.progress.get("batch", [])]
    if len(batch) != 1:
        return batch
    deaths = {str(pk): int(n) for pk, n in job.progress.get("deaths", {}).items()}
    deaths[str(batch[0])] = deaths.get(str(batch[0]), 0) + 1
    jobs.report(job, deaths=deaths)
    if deaths[str(batch[0])] < DEATHS_ALONE:
        return batch
    for model in models_of(_vault_id(job)):
        mark_failed(batch, model, "The worker died each time it was embedded.")
    return []


def _vault_id(job: Job) -> int:
    if job.vault_id is None:
        raise GiveUp("The job names no vault.")
    return job.vault_id


def _is_full_due(vault_id: int) -> bool:
    recent = SyncRun.objects.filter(vault_id=vault_id, started__gt=timezone.now() - FULL_EVERY)
    done = recent.filter(state__in=[SyncRun.State.DONE, SyncRun.State.WARNINGS])
    had_one = SyncRun.objects.filter(vault_id=vault_id).exists()
    return had_one and not done.filter(counts__full=True).exists()


def _is_embedding_due(vault_id: int, *, changed: bool) -> bool:
    """Whether something waits for its vector, and trying makes sense now."""
    is_waiting = has_pending(vault_id) or ready_to_switch(vault_id) is not None
    if not is_waiting:
        models = models_of(vault_id)
        is_waiting = any(is_noise_due(model) for model in models)
        is_waiting |= changed and any(has_due_notes(vault_id, model) for model in models)
    if not is_waiting:
        return False
    return not _failed_lately(f"embed:{vault_id}", but=changed)


def _failed_lately(key: str, *, but: bool) -> bool:
    """Whether a job was given up a while ago and nothing speaks for trying now; `but`:
    something does."""
    lately = timezone.now() - FAILED_AGAIN
    failed = Job.objects.filter(key=key, state=Job.State.FAILED, finished__gt=lately)
    return not but and failed.exists()
