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

    def __init__(self, *, is_running: bool, failures: int = 0) -> None:
        self.running = is_running
        self.failures = failures
        self.tries = 0

    def get_postmaster_info(self) -> Server:
        return self

    def is_running(self) -> bool:
        return self.running

    def ensure_postgres_running(self) -> None:
        self.tries += 1
        if self.tries <= self.failures:
            raise subprocess.CalledProcessError(1, "pg_ctl")
        self.running = True


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    servers: list[Any] = []
    monkeypatch.setattr(embedded, "_held", servers)
    return servers


def test_a_server_that_ended_is_started_again_once(held: list[Any]) -> None:
    server = Server(is_running=False)
    held.append(server)
    assert [embedded.revive(), embedded.revive()] == [True, False]
    assert server.tries == 1


def test_a_server_that_is_still_ending_is_tried_again_later(held: list[Any]) -> None:
    held.append(Server(is_running=False, failures=1))
    assert [embedded.revive(), embedded.revive()] == [False, True]


def test_a_server_of_others_is_left_alone(held: list[Any]) -> None:
    assert not embedded.revive()
    held.append(server := Server(is_running=True))
    assert not embedded.revive()
    assert server.tries == 0
