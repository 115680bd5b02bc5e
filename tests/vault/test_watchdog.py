"""When a cluster is given up: the worker's look at it, with a clock of its own."""

from __future__ import annotations

from datetime import timedelta
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.utils import timezone

from vault.models import Job
from vault.worker import Watchdog, Worker

pytestmark = pytest.mark.django_db


def test_a_canary_that_waits_behind_jobs_is_not_late() -> None:
    now = [0.0]
    watchdog = Watchdog(clock=lambda: now[0])
    moment = timezone.now()
    lease = moment + timedelta(minutes=5)
    Job.objects.create(kind="embed", key="e", state="running", started=moment, lease_until=lease)
    jobs = Job.objects.all()
    assert watchdog.verdict() == "", "a canary was sent"
    now[0] = 125.0
    assert watchdog.verdict() == "", "a job is at work"
    jobs.update(state="done", finished=timezone.now(), lease_until=None)
    assert watchdog.verdict() == "", "one ended a moment ago"
    jobs.update(started=moment - timedelta(minutes=5), finished=moment - timedelta(minutes=4))
    assert watchdog.verdict() == "a canary did not come back in 125 s"


def test_time_in_which_the_database_was_away_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("vault.worker.connection", Mock())
    now = [0.0]
    worker = Worker(watch=False)
    worker.watchdog = Watchdog(clock=lambda: now[0])
    worker.stopping.set()

    def gone() -> None:
        raise OperationalError("away")

    assert worker.watchdog.verdict() == "", "a canary was sent"
    now[0] = 624.0
    worker._guarded(gone)
    assert worker.watchdog.verdict() == ""
