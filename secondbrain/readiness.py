"""What must be there before the product can answer."""

from __future__ import annotations

from typing import Any

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor


def readiness() -> dict[str, Any]:
    """`ready`, and one line for each part: `ok` or what is wrong with it."""
    checks = {"database": _database(), "migrations": ""}
    if checks["database"] == "ok":
        checks["migrations"] = _migrations()
    ready = all(state == "ok" for state in checks.values())
    return {"ready": ready, "checks": checks}


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "unreachable"
    return "ok"


def _migrations() -> str:
    executor = MigrationExecutor(connection)
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(waiting)} not applied" if waiting else "ok"
