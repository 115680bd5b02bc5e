"""Whether this process can answer: what /readyz reports."""

from __future__ import annotations

from typing import Any

from secondbrain.health import Level, check_database, check_extensions, check_migrations


def readiness() -> dict[str, Any]:
    """`ready`, and one line for each part: `ok` or what is wrong with it.

    The worker is not part of it: without it pages, search and answers still work, and a
    load balancer must not take a web process out for it.
    """
    database = check_database()
    checks = [database]
    if database.level is Level.OK:
        checks += [check_migrations(), check_extensions()]
    return {
        "ready": all(check.level is not Level.BAD for check in checks),
        "checks": {check.name.lower(): f"{check.level}: {check.text}" for check in checks},
    }
