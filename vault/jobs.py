"""What is to be done. The Job rows are the truth; the queue only rings the bell.

A job may be rung for twice, at once, late, or never: claiming decides who works. An
attempt is counted and committed before the work, so that work which kills its worker
ends as well. Times are the database's.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from vault import doorbell
from vault.models import Job

log = structlog.get_logger(__name__)

# Seconds before the n-th repetition of failed work; the last one is repeated.
BACK_OFF = (5, 30, 120, 600)
# Seconds that a process stays with a job of many slices: well under JOB_TIMEOUT.
LONGEST_STAY = 60.0
# Whoever hears a bell sees to these first: an edit does not wait behind a vault's vectors.
URGENT = ("sync",)
MOST_URGENT = 20
DIED = "The worker died while it was at this."


@dataclass(frozen=True, slots=True)
class Again:
    """What a handler returns when there is more to do, `after` seconds from now."""

    after: float = 0.0


class RetryLater(Exception):
    """The work cannot be done now: try again in `seconds`. Counts as an attempt."""

    def __init__(self, reason: str, *, seconds: float | None = None) -> None:
        super().__init__(reason)
        self.seconds = seconds


class GiveUp(Exception):
    """Trying again cannot help until somebody changes something."""


Handler = Callable[[Job], Again | None]


def want(
    kind: str,
    *,
    key: str,
    vault_id: int | None = None,
    payload: dict[str, Any] | None = None,
    after: float = 0.0,
) -> Job:
    """Ask for work. One open job has `key`: asked for while it runs, it runs once more.

    The bell is rung when the transaction is committed. `after`: seconds to wait first.
    """
    while True:
        job = _join_open(key, after) or _insert(
            kind, key=key, vault_id=vault_id, payload=payload or {}, after=after
        )
        if job is not None:
            if job.state == Job.State.QUEUED and after <= 0:
                ring(job.pk)
            return job


def ring(job_id: int) -> None:
    """Tell the queue about a job, after commit."""
    Job.objects.filter(pk=job_id).update(rung=Now())
    transaction.on_commit(lambda: doorbell.ring(job_id), robust=True)


def run(job_id: int) -> bool:
    """Do the job if it is due and nobody is at it. False: there was nothing to do.

    Work that has more to do goes on here for a while, as long as nothing else is due: the
    way round through the queue costs up to half a second.
    """
    until = time.monotonic() + LONGEST_STAY
    was_urgent = _run_urgent(until)
    if not _run_once(job_id):
        return was_urgent
    while time.monotonic() < until and _is_next(job_id) and _run_once(job_id):
        pass
    return True


def _run_urgent(until: float) -> bool:
    """Do what is urgent and due, each once. False: there was nothing to do."""
    due = Job.objects.due().filter(kind__in=URGENT).order_by("pk")
    has_run = False
    for job_id in list(due.values_list("pk", flat=True)[:MOST_URGENT]):
        if time.monotonic() < until:
            has_run = _run_once(job_id) or has_run
    return has_run


def _is_next(job_id: int) -> bool:
    """Whether this job, and no other, is due now, and not because it failed."""
    due = list(Job.objects.due().values_list("pk", "attempts")[:2])
    return due == [(job_id, 0)]


def _run_once(job_id: int) -> bool:
    job = claim(job_id)
    if job is None:
        return False
    bound = structlog.contextvars.bound_contextvars(job=job.key, attempt=job.attempts)
    with bound, _lease_kept(job):
        try:
            outcome = _handler(job.kind)(job)
        except GiveUp as error:
            fail(job, str(error), for_good=True)
        except RetryLater as error:
            fail(job, str(error), seconds=error.seconds)
        except Exception as error:  # the outer edge of a task: the row keeps it
            log.exception("job_failed", kind=job.kind)
            fail(job, f"{type(error).__name__}: {error}")
        else:
            finish(job, outcome)
    return True


def claim(job_id: int) -> Job | None:
    """Take a due job: attempt counted, lease set, committed. None: not due, or taken."""
    with transaction.atomic():
        job = Job.objects.due().filter(pk=job_id).select_for_update(skip_locked=True).first()
        if job is None:
            return None
        if job.state == Job.State.RUNNING:
            job.last_error = DIED
        if job.attempts >= job.most_attempts:
            _bury(job, f"Gave up after {job.attempts} attempts. {job.last_error}")
            return None
        Job.objects.filter(pk=job_id).update(
            state=Job.State.RUNNING,
            attempts=F("attempts") + 1,
            started=Now(),
            last_error=job.last_error,
            lease_until=_from_now(settings.JOB_LEASE),
        )
    job.refresh_from_db()
    return job


def renew(job: Job) -> bool:
    """Keep the lease for another while. False: somebody else has the job now."""
    changed = _mine(job).update(lease_until=_from_now(settings.JOB_LEASE))
    return bool(changed)


def _renewed(job: Job) -> bool:
    """As `renew`; True as well when nobody can tell now."""
    try:
        return renew(job)
    except (DatabaseError, InterfaceError) as error:
        log.warning("lease_not_renewed", job=job.key, error=str(error).strip())
        connection.close()
        return True


def report(job: Job, **progress: Any) -> None:
    """Show how far the job is; renews its lease."""
    job.progress = {**job.progress, **progress}
    _mine(job).update(progress=job.progress, lease_until=_from_now(settings.JOB_LEASE))


def note_headway(job: Job) -> None:
    """Something was finished: attempts that did less do not count any more."""
    _mine(job).filter(attempts__gt=1).update(attempts=1)


def finish(job: Job, outcome: Again | None = None) -> None:
    """The work of this claim is done; queued once more when there is more, or asked for."""
    with transaction.atomic():
        row = _mine(job).select_for_update().first()
        if row is None:
            return
        if outcome is None and not row.wanted_again:
            _mine(job).update(state=Job.State.DONE, finished=Now(), lease_until=None, last_error="")
            return
        after = 0.0 if row.wanted_again or outcome is None else outcome.after
        _requeue(row, seconds=after, attempts=0, last_error="")


def fail(job: Job, reason: str, *, seconds: float | None = None, for_good: bool = False) -> None:
    """Note why it did not work; try again later, or never when attempts are used up."""
    with transaction.atomic():
        row = _mine(job).select_for_update().first()
        if row is None:
            return
        if for_good and not row.wanted_again:
            _bury(row, reason)
        elif row.attempts >= row.most_attempts:
            _bury(row, f"Gave up after {row.attempts} attempts. {reason}")
        else:
            wait = BACK_OFF[min(row.attempts, len(BACK_OFF)) - 1] if seconds is None else seconds
            _requeue(row, seconds=wait, attempts=row.attempts, last_error=reason)


def retry(job: Job) -> Job:
    """Want the same work again after it failed for good."""
    return want(job.kind, key=job.key, vault_id=job.vault_id, payload=job.payload)


def take_over(key: str) -> None:
    """The caller does this work itself, now: whoever wants it from here on asks anew."""
    Job.objects.filter(key=key, state=Job.State.QUEUED).update(
        state=Job.State.DONE, finished=Now(), last_error=""
    )


def sweep(*, again: bool = False) -> int:
    """Ring for what is due and was not heard: expired leases, lost bells.

    A bell that waits to be heard is enough, but `again` rings for everything that is due.
    Returns how many; harmless when run twice, claiming decides.
    """
    due = Job.objects.due()
    if not again:
        lately = Q(rung__gt=_from_now(-settings.JOB_RING_AGAIN))
        since_it_was_left = Q(state=Job.State.RUNNING, rung__lt=F("lease_until"))
        due = due.filter(~lately | since_it_was_left | Q(rung=None))
        due = due.exclude(pk__in=doorbell.waiting())
    ids = list(due.order_by("pk").values_list("pk", flat=True)[:100])
    for job_id in ids:
        ring(job_id)
    return len(ids)


def unheard(*, seconds: float) -> bool:
    """Whether a job is due for so long while nobody works, or took or ended anything."""
    return Job.objects.due(since=seconds).exists() and not is_worked_at(seconds=seconds)


def is_worked_at(*, seconds: float) -> bool:
    """Whether a worker is at a job, or took or ended one in the last so many seconds."""
    moment = _from_now(-seconds)
    at_work = Q(state=Job.State.RUNNING, lease_until__gte=Now())
    moved = Q(started__gt=moment) | Q(finished__gt=moment)
    return Job.objects.filter(at_work | moved).exists()


def _join_open(key: str, after: float) -> Job | None:
    """Let an open job of this key do what is asked; None when there is none."""
    with transaction.atomic():
        job = Job.objects.open().filter(key=key).select_for_update().first()
        if job is None:
            return None
        if job.state == Job.State.RUNNING:
            job.wanted_again = True
            job.save(update_fields=["wanted_again"])
        elif job.run_after is not None and not job.attempts:
            Job.objects.filter(pk=job.pk, run_after__gt=_from_now(after)).update(
                run_after=_from_now(after)
            )
        return job


def _insert(
    kind: str, *, key: str, vault_id: int | None, payload: dict[str, Any], after: float
) -> Job | None:
    """A new queued job, or None when another process was first."""
    # Of what is over with under this key only the last is kept, and now there is a new one.
    Job.objects.filter(key=key).exclude(state__in=Job.OPEN).delete()
    row = Job(kind=kind, key=key, vault_id=vault_id, payload=payload)
    Job.objects.bulk_create([row], ignore_conflicts=True)
    job = Job.objects.open().filter(key=key).first()
    if job is not None and after > 0:
        Job.objects.filter(pk=job.pk).update(run_after=_from_now(after))
    return job


def _requeue(row: Job, *, seconds: float, attempts: int, last_error: str) -> None:
    Job.objects.filter(pk=row.pk).update(
        state=Job.State.QUEUED,
        attempts=attempts,
        last_error=_storable(last_error),
        wanted_again=False,
        lease_until=None,
        run_after=_from_now(seconds),
    )
    if seconds <= 0:
        ring(row.pk)


def _bury(row: Job, reason: str) -> None:
    Job.objects.filter(pk=row.pk).update(
        state=Job.State.FAILED, last_error=_storable(reason), finished=Now(), lease_until=None
    )
    log.error("job_dead", job=row.key, reason=reason)


def _storable(reason: str) -> str:
    return reason.replace("\0", "")[:4000]


def _mine(job: Job) -> Any:
    """The row, as long as this claim holds it: `started` names the claim."""
    return Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, started=job.started)


def _from_now(seconds: float) -> Any:
    return Now() + timedelta(seconds=seconds)


def _handler(kind: str) -> Handler:
    """The function that does jobs of `kind`, as settings.JOB_HANDLERS names it."""
    place = settings.JOB_HANDLERS.get(kind)
    if place is None:
        raise GiveUp(f"Nothing does jobs of kind “{kind}”.")
    module, _dot, name = place.rpartition(".")
    handler: Handler = getattr(import_module(module), name)
    return handler


@contextmanager
def _lease_kept(job: Job) -> Iterator[None]:
    """Renew the lease from a thread while the work runs, however long one step takes.

    A killed process renews nothing, a hanging one is ended by the queue's timeout. A
    database that is away for a moment is asked again.
    """
    done = threading.Event()

    def keep() -> None:
        try:
            while not done.wait(settings.JOB_LEASE / 3):
                if not _renewed(job):
                    return
        finally:
            connection.close()

    thread = threading.Thread(target=keep, name=f"lease of {job.key}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
