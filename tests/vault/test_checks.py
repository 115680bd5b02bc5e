"""System checks: a set-up that would lose work is refused at the start."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from vault import checks


def ids(messages: object) -> list[str]:
    return [message.id for message in messages]  # type: ignore[attr-defined]


def test_a_pool_is_refused_in_a_worker_and_only_there(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(settings.DATABASES["default"]["OPTIONS"], "pool", {"max_size": 4})
    settings.PROCESS_ROLE = "worker"
    assert ids(checks.check_worker_has_no_pool(None)) == ["vault.E001"]
    settings.PROCESS_ROLE = "web"
    assert ids(checks.check_worker_has_no_pool(None)) == []


def test_a_retry_shorter_than_a_task_may_take_is_refused(settings: Settings) -> None:
    assert ids(checks.check_queue_retry(None)) == []
    settings.Q_CLUSTER = {**settings.Q_CLUSTER, "timeout": 90, "retry": 120}
    assert ids(checks.check_queue_retry(None)) == ["vault.E002"]


def test_a_lease_that_cannot_be_kept_is_refused(settings: Settings) -> None:
    settings.JOB_LEASE = 0.5
    assert ids(checks.check_lease(None)) == ["vault.E003"]
    settings.JOB_LEASE = 20
    assert ids(checks.check_lease(None)) == []


def test_a_database_with_pgvector_is_fine(db: None) -> None:
    assert ids(checks.check_pgvector(None)) == []
