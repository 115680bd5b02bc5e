"""The bell of the queue: tells a worker process that there is something to do.

A bell may be lost, late, or heard twice. Nothing depends on it but speed.
"""

from __future__ import annotations

from django.utils import timezone
from django_q.models import OrmQ
from django_q.tasks import async_task

_RUN_JOB = "vault.tasks.run_job"


def ring(job_id: int) -> None:
    """Have a worker look at a job."""
    async_task(_RUN_JOB, job_id)


def waiting() -> set[int]:
    """Jobs with a bell in the queue that nobody has taken yet."""
    tasks = [row.task for row in OrmQ.objects.filter(lock__lte=timezone.now())]
    return {int(task["args"][0]) for task in tasks if task.get("func") == _RUN_JOB}


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
