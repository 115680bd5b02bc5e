"""The database that the product makes for itself."""

from __future__ import annotations

import locale

import psycopg
import pytest
from django.db import connection
from psycopg import sql

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
