"""Fixtures that every test may ask for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, settings
from pytest_django import DjangoDbBlocker
from xdist.remote import Producer

from tests.cast import Cast, make_cast
from tests.database import template_database
from tests.scheduling import GroupScheduling

# Machines that run tests are busy: how long an example takes says nothing. Where the suite
# decides whether a change may land, the same examples are drawn each time.
settings.register_profile(
    "suite",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("suite")


Written = Callable[[], AbstractContextManager[None]]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> GroupScheduling:
    return GroupScheduling(config, log)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> None:
    """Databases of tests are copies of one that was migrated."""
    connection.settings_dict["TEST"]["TEMPLATE"] = template_database()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The test database. The build of an index that a test began goes on in a session of its
    own; it must not keep the database from being dropped."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        # Nobody needs these rows after the machine lost its power: no commit waits for the
        # disk. Sessions take the setting over when they begin.
        name = connection.ops.quote_name(str(connection.settings_dict["NAME"]))
        cursor.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    connection.close()
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture(scope="module")
def kept_rows(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Written]:
    """`with kept_rows():` writes rows that all tests of a module find, until its last has
    ended. What a test itself writes is undone at its end, as ever."""

    @contextmanager
    def written() -> Iterator[None]:
        with django_db_blocker.unblock():
            yield
            # References are looked at now: else every test would look at all of them.
            connection.check_constraints()

    with django_db_blocker.unblock():
        around = transaction.atomic()
        around.__enter__()
    yield written
    with django_db_blocker.unblock():
        transaction.set_rollback(True)
        around.__exit__(None, None, None)


@pytest.fixture
def cast(db: None) -> Cast:
    """Owner, team mate and outsider with their vaults."""
    return make_cast()
