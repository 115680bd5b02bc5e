"""The bell of the queue: tells a worker process that there is something to do.

A bell may be lost, late, or heard twice. Nothing depends on it but speed.
"""

from __future__ import annotations

from django_q.models import OrmQ
from django_q.tasks import async_task


def ring(job_id: int) -> None:
    """Have a worker look at a job."""
    async_task("vault.tasks.run_job", job_id)


def send_canary() -> int:
    """Put a canary into the queue; returns what `canary_is_back` wants to know."""
    task_id = async_task("vault.tasks.sing")
    for row in OrmQ.objects.order_by("-pk")[:50]:
        if row.task_id() == task_id:
            return int(row.pk)
    return 0


def canary_is_back(canary: int) -> bool:
    """Whether it went all the way: pushed, worked at, and acknowledged."""
    return not OrmQ.objects.filter(pk=canary).exists()


def silence() -> None:
    """Forget every bell that was rung: those of a dead cluster would be heard twice."""
    OrmQ.objects.all().delete()
