"""When a cluster is given up: the worker's look at it, with a clock of its own."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from vault.models import Job
from vault.worker import Watchdog

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
