"""What is wrong with the set-up of ingest, said at the start. Ids `vault.E…`, `vault.W…`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DatabaseError, connection

from vault.fields import has_halfvec


@register()
def check_worker_has_no_pool(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """E001: a pool shared by forked processes loses tasks."""
    pooled = [
        name
        for name, database in settings.DATABASES.items()
        if database.get("OPTIONS", {}).get("pool")
    ]
    if settings.PROCESS_ROLE != "worker" or not pooled:
        return []
    return [
        Error(
            f"The worker must not use a connection pool (database {pooled[0]!r}): it forks, "
            "and processes that share a pool lose tasks.",
            hint="Remove OPTIONS['pool'] where PROCESS_ROLE is worker.",
            id="vault.E001",
        )
    ]


@register()
def check_queue_retry(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """E002: a task that is handed out again while it runs, or waits, runs twice."""
    cluster = settings.Q_CLUSTER
    share = cluster.get("queue_limit", 1) / max(cluster.get("workers", 1), 1)
    least = cluster["timeout"] * (1 + share) + 60
    if cluster["retry"] >= least:
        return []
    return [
        Error(
            f"Q_CLUSTER['retry'] is {cluster['retry']} s, but a task may wait and run for "
            f"{least:.0f} s: the queue would hand it out twice.",
            hint="retry >= timeout x (1 + queue_limit / workers) + 60.",
            id="vault.E002",
        )
    ]


@register()
def check_lease(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """E003: a lease shorter than the patience of who looks for it is lost while work goes on."""
    if settings.JOB_LEASE >= 1:
        return []
    return [
        Error(
            f"JOB_LEASE is {settings.JOB_LEASE} s: a busy machine cannot renew it in time.",
            hint="20 is the default; one second is the least.",
            id="vault.E003",
        )
    ]


@register(Tags.database)
def check_pgvector(app_configs: Any, **kwargs: Any) -> Sequence[CheckMessage]:
    """W001: without pgvector search by meaning is exact, in memory, and slow when large."""
    try:
        if has_halfvec(connection):
            return []
    except DatabaseError:
        return []  # a database that is away is told by others
    return [
        checks.Warning(
            "The database has no pgvector (0.7 or newer): search by meaning compares every "
            "vector in memory, which is slow beyond some ten thousand passages.",
            hint="Install pgvector on the PostgreSQL server.",
            id="vault.W001",
        )
    ]
