"""The database that the product makes for itself."""

from __future__ import annotations

import locale
import subprocess
from typing import Any

import psycopg
import pytest
from django.db import connection
from psycopg import sql

from secondbrain import embedded
from secondbrain.embedded import create_database

NAME = "letters_of_all_languages"


@pytest.mark.django_db
def test_a_new_database_tells_letters_from_marks_in_every_language() -> None:
    before = locale.setlocale(locale.LC_CTYPE)
    place = {**connection.get_connection_params(), "autocommit": True}
    server = {key: place[key] for key in ("host", "port", "user", "password") if place.get(key)}
    dropped = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(NAME))
    with psycopg.connect(dbname="postgres", autocommit=True, **server) as maker:
        maker.execute(dropped)
        create_database(maker, NAME)
        try:
            with psycopg.connect(dbname=NAME, **server) as made:
                words = made.execute(
                    "SELECT array_agg(lexeme ORDER BY lexeme) FROM unnest("
                    "to_tsvector('simple', '«Ромашка» “pump”—it’s 10\u00a0000')) AS part"
                ).fetchone()
                made.execute("CREATE EXTENSION pg_trgm")
                alike = made.execute("SELECT similarity('насосы', 'насос') > 0.5").fetchone()
        finally:
            maker.execute(dropped)
    assert words == (["000", "10", "it", "pump", "s", "ромашка"],)
    assert alike == (True,)
    assert locale.setlocale(locale.LC_CTYPE) == before


class Server:
    """A server of which only the process counts: it comes back after `failures` tries."""

    def __init__(self, *, is_running: bool, failures: int = 0, is_slow: bool = False) -> None:
        self.running = is_running
        self.failures = failures
        self.is_slow = is_slow
        self.tries = 0

    def get_postmaster_info(self) -> Server:
        return self

    def is_running(self) -> bool:
        return self.running

    def ensure_postgres_running(self) -> None:
        self.tries += 1
        self.running = self.tries > self.failures
        if not self.running:
            raise subprocess.CalledProcessError(1, "pg_ctl")
        if self.is_slow:
            raise subprocess.TimeoutExpired("pg_ctl", 10)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    servers: list[Any] = []
    monkeypatch.setattr(embedded, "_held", servers)
    return servers


def test_a_server_that_ended_is_started_again_once(held: list[Any]) -> None:
    server = Server(is_running=False)
    held.append(embedded._Held(server))
    assert [embedded.revive(), embedded.revive()] == [True, False]
    assert server.tries == 1


def test_a_server_that_is_still_ending_is_tried_again_later(held: list[Any]) -> None:
    held.append(embedded._Held(Server(is_running=False, failures=1)))
    assert [embedded.revive(), embedded.revive()] == [False, True]


def test_a_start_that_takes_longer_than_is_waited_for_is_told_all_the_same(
    held: list[Any],
) -> None:
    held.append(embedded._Held(Server(is_running=False, is_slow=True)))
    assert [embedded.revive(), embedded.revive()] == [True, False]


def test_a_server_of_others_is_left_alone(held: list[Any]) -> None:
    assert not embedded.revive()
    server = Server(is_running=True)
    held.append(embedded._Held(server))
    assert not embedded.revive()
    assert server.tries == 0
