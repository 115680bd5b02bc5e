"""Jobs: who may work when, how often, and what is left when a worker dies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.db.models.functions import Now
from django.utils import timezone
from django_q.models import OrmQ
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from vault import jobs
from vault.jobs import Again, GiveUp, RetryLater
from vault.models import Job

pytestmark = pytest.mark.django_db

Work = Callable[[Job], Again | None]


class Bench:
    """What the handler of kind "test" does: the tests put work here."""

    work: Work
    done: list[int]


def handler(job: Job) -> Again | None:
    """Settings name handlers by path: this one does what the bench holds."""
    Bench.done.append(job.pk)
    return Bench.work(job)


@pytest.fixture(autouse=True)
def bench(settings: Settings) -> Iterator[type[Bench]]:
    settings.JOB_HANDLERS = {"test": f"{__name__}.handler"}
    Bench.work, Bench.done = staticmethod(lambda job: None), []
    yield Bench


def want(**options: Any) -> Job:
    return jobs.want("test", key="k", **options)


def past(job: Job, **fields: float) -> None:
    """Move moments of a job so many seconds into the past."""
    Job.objects.filter(pk=job.pk).update(
        **{name: jobs._from_now(-seconds) for name, seconds in fields.items()}
    )


def raising(error: Exception) -> Work:
    def work(job: Job) -> Again | None:
        raise error

    return work


def state(job: Job) -> tuple[str, int, str]:
    job.refresh_from_db()
    return job.state, job.attempts, job.last_error


def test_a_job_is_done_once_however_often_it_is_rung_for() -> None:
    job = want()
    assert [jobs.run(job.pk) for _ring in range(3)] == [True, False, False]
    assert Bench.done == [job.pk]
    assert state(job) == ("done", 1, "")
    assert job.finished is not None


def test_wanting_twice_makes_one_job_and_rings_after_commit(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        first, second = want(), want()
        assert not OrmQ.objects.exists()
    assert first == second
    rung = {row.task["args"] for row in OrmQ.objects.all()}
    assert rung == {(first.pk,)}
    assert {row.task["func"] for row in OrmQ.objects.all()} == {"vault.tasks.run_job"}


def test_a_job_wanted_while_it_runs_runs_once_more() -> None:
    job = want()

    def work(job: Job) -> None:
        if len(Bench.done) == 1:
            want()
            want()

    Bench.work = staticmethod(work)
    assert jobs.run(job.pk)
    assert state(job)[0] == "done"
    assert len(Bench.done) == 2


def test_an_attempt_is_counted_before_the_work() -> None:
    job = want()
    seen: list[int] = []

    def work(running: Job) -> None:
        seen.append(Job.objects.get(pk=job.pk).attempts)

    Bench.work = staticmethod(work)
    jobs.run(job.pk)
    assert seen == [1]


def test_nobody_takes_a_job_while_its_lease_lasts() -> None:
    job = want()
    assert jobs.claim(job.pk) is not None
    assert jobs.claim(job.pk) is None
    past(job, lease_until=1)
    again = jobs.claim(job.pk)
    assert again is not None
    assert (again.attempts, again.last_error) == (2, jobs.DIED)


def test_a_job_that_kills_its_worker_each_time_is_dead_in_the_end() -> None:
    job = want()
    for _death in range(job.most_attempts):
        assert jobs.claim(job.pk) is not None
        past(job, lease_until=1)
    assert jobs.claim(job.pk) is None
    final, attempts, error = state(job)
    assert (final, attempts) == ("failed", 5)
    assert "Gave up after 5 attempts" in error
    assert "died" in error


def test_a_late_worker_cannot_end_the_job_of_another() -> None:
    job = want()
    slow = jobs.claim(job.pk)
    past(job, lease_until=1)
    quick = jobs.claim(job.pk)
    assert slow is not None
    assert quick is not None
    jobs.finish(slow)
    jobs.fail(slow, "too late")
    assert not jobs.renew(slow)
    assert state(job) == ("running", 2, jobs.DIED)
    assert jobs.renew(quick)
    jobs.finish(quick)
    assert state(job)[0] == "done"


def test_failed_work_is_tried_again_later_and_given_up_in_the_end() -> None:
    Bench.work = staticmethod(raising(ValueError("no luck")))
    job = want()
    for attempt in range(1, 6):
        assert jobs.run(job.pk)
        job.refresh_from_db()
        if attempt < 5:
            assert job.state == "queued"
            assert job.run_after is not None
            assert not jobs.run(job.pk), "its time has not come"
            past(job, run_after=1)
    final, attempts, error = state(job)
    assert (final, attempts) == ("failed", 5)
    assert "ValueError: no luck" in error


def test_waits_grow_and_a_provider_may_name_its_own() -> None:
    job = want()
    Bench.work = staticmethod(raising(RetryLater("busy")))
    jobs.run(job.pk)
    assert seconds_until(job) == pytest.approx(5, abs=2)
    past(job, run_after=1)
    jobs.run(job.pk)
    assert seconds_until(job) == pytest.approx(30, abs=2)
    Bench.work = staticmethod(raising(RetryLater("busy", seconds=77)))
    past(job, run_after=1)
    jobs.run(job.pk)
    assert seconds_until(job) == pytest.approx(77, abs=2)


def seconds_until(job: Job) -> float:
    now = Job.objects.annotate(now=Now()).values_list("now", flat=True)[0]
    job.refresh_from_db()
    assert job.run_after is not None
    return float((job.run_after - now).total_seconds())


def test_what_cannot_help_is_not_tried_again() -> None:
    Bench.work = staticmethod(raising(GiveUp("the key was refused")))
    job = want()
    jobs.run(job.pk)
    assert state(job) == ("failed", 1, "the key was refused")


def test_work_that_gives_up_while_it_is_wanted_anew_is_tried_again() -> None:
    def give_up(job: Job) -> Again | None:
        want()
        raise GiveUp("the key was refused")

    Bench.work = staticmethod(give_up)
    job = want()
    jobs.run(job.pk)
    assert state(job) == ("queued", 1, "the key was refused")


def test_an_unknown_kind_fails_with_a_reason() -> None:
    job = jobs.want("unheard-of", key="u")
    jobs.run(job.pk)
    assert "unheard-of" in state(job)[2]


def test_more_to_do_queues_the_job_again_with_fresh_attempts() -> None:
    Bench.work = staticmethod(lambda job: Again() if len(Bench.done) < 9 else None)
    job = want()
    while jobs.run(job.pk):
        pass
    assert len(Bench.done) == 9
    assert state(job) == ("done", 1, "")


def test_a_dead_job_can_be_retried_and_leaves_no_old_row() -> None:
    Bench.work = staticmethod(raising(GiveUp("no key")))
    job = want(payload={"id": 3})
    jobs.run(job.pk)
    job.refresh_from_db()
    Bench.work = staticmethod(lambda job: None)
    fresh = jobs.retry(job)
    assert fresh.payload == {"id": 3}
    assert jobs.run(fresh.pk)
    assert list(Job.objects.values_list("key", "state")) == [("k", "done")]


def test_a_later_want_waits_and_an_earlier_one_brings_it_forward() -> None:
    job = want(after=600)
    assert not jobs.run(job.pk)
    want()
    assert jobs.run(job.pk)


def test_a_want_does_not_shorten_the_back_off_of_failing_work() -> None:
    Bench.work = staticmethod(raising(RetryLater("busy", seconds=600)))
    job = want()
    jobs.run(job.pk)
    want()
    assert not jobs.run(job.pk)


def test_the_sweeper_rings_for_what_nobody_heard(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    job = want()
    assert jobs.sweep() == 0, "rung a moment ago"
    past(job, rung=60)
    with django_capture_on_commit_callbacks(execute=True):
        assert jobs.sweep() == 1
    assert OrmQ.objects.count() == 1
    assert jobs.sweep() == 0
    assert jobs.sweep(again=True) == 1


def test_the_sweeper_rings_at_once_when_a_worker_left_its_job() -> None:
    job = want()
    jobs.claim(job.pk)
    assert jobs.sweep() == 0, "somebody works at it"
    past(job, lease_until=1, rung=2)
    assert jobs.sweep() == 1


def test_a_due_job_is_unheard_only_while_nobody_works() -> None:
    job = want()
    assert not jobs.unheard(seconds=20)
    past(job, created=30)
    assert jobs.unheard(seconds=20)
    other = jobs.want("test", key="other")
    jobs.claim(other.pk)
    assert not jobs.unheard(seconds=20), "a worker is at another job"
    past(other, lease_until=1, started=60)
    assert jobs.unheard(seconds=20)
    Job.objects.filter(pk=other.pk).update(state=Job.State.DONE)
    past(other, finished=10)
    assert not jobs.unheard(seconds=20), "a worker has just ended another job"
    past(other, finished=30)
    assert jobs.unheard(seconds=20)


def test_progress_is_merged_and_renews_the_lease() -> None:
    job = want()
    claimed = jobs.claim(job.pk)
    assert claimed is not None
    past(job, lease_until=1)
    jobs.report(claimed, done=1, total=9)
    jobs.report(claimed, done=2)
    job.refresh_from_db()
    assert job.progress == {"done": 2, "total": 9}
    assert Job.objects.at_work().filter(pk=job.pk).exists()


def test_an_error_with_a_nul_is_kept_without_it() -> None:
    Bench.work = staticmethod(raising(ValueError("a\0b")))
    job = want()
    jobs.run(job.pk)
    assert "ab" in state(job)[2]


def test_work_taken_over_by_a_command_is_done_with() -> None:
    job = want()
    jobs.take_over("k")
    assert state(job)[0] == "done"
    assert not jobs.run(job.pk)
    assert want().pk != job.pk


def test_a_payload_is_plain_json() -> None:
    job = want(payload={"embedding_model": 1})
    assert json.loads(json.dumps(job.payload)) == {"embedding_model": 1}


@pytest.mark.django_db(transaction=True)
def test_the_lease_is_renewed_while_one_step_takes_long(settings: Settings) -> None:
    settings.JOB_LEASE = 0.3
    job = want()
    seen: list[bool] = []

    def work(running: Job) -> None:
        first = Job.objects.get(pk=job.pk).lease_until
        for _look in range(100):
            later = Job.objects.get(pk=job.pk).lease_until
            if first is not None and later is not None and later > first:
                seen.append(True)
                return

    def slow(running: Job) -> None:
        while not seen:
            work(running)

    Bench.work = staticmethod(slow)
    assert jobs.run(job.pk)
    assert state(job)[0] == "done"


@pytest.mark.django_db(transaction=True)
def test_a_database_that_is_away_for_a_moment_takes_no_lease_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = want()
    claimed = jobs.claim(job.pk)
    assert claimed is not None
    assert jobs._renewed(claimed)

    def away(job: Job) -> bool:
        raise OperationalError("the connection is lost")

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "renew", away)
        assert jobs._renewed(claimed)
    jobs.fail(claimed, "given back")
    assert not jobs._renewed(claimed), "somebody else may have it now"


def test_work_of_many_slices_stays_where_it_is_until_something_else_is_due() -> None:
    slices: list[str] = []

    def work(job: Job) -> Again:
        slices.append(job.key)
        if len(slices) == 3:
            jobs.want("test", key="other")
        return Again()

    Bench.work = staticmethod(work)
    job = want()
    assert jobs.run(job.pk)
    assert slices == ["k", "k", "k"]
    assert state(job)[0] == "queued"


def test_whoever_hears_a_bell_sees_to_an_edit_first(settings: Settings) -> None:
    settings.JOB_HANDLERS = dict.fromkeys(("embed", "sync"), f"{__name__}.handler")
    vectors = jobs.want("embed", key="vectors")
    edit = jobs.want("sync", key="edit")
    assert jobs.run(vectors.pk)
    assert Bench.done == [edit.pk, vectors.pk]


def test_a_job_with_a_bell_in_the_queue_gets_no_second_one(
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        job = want()
    past(job, rung=3600, created=3600)
    with django_capture_on_commit_callbacks(execute=True):
        assert jobs.sweep() == 0
    assert OrmQ.objects.count() == 1
    OrmQ.objects.update(lock=timezone.now() + timedelta(minutes=5))  # somebody took it
    with django_capture_on_commit_callbacks(execute=True):
        assert jobs.sweep() == 1
