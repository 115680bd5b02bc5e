"""The tables of the tests, made once: the databases of a run are copies of them.

Running every migration takes seconds of a core, and each process of a run needs a database.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from django.apps import apps
from psycopg import sql

from tests.live import ROOT, run_command

PREFIX = "template_of_tests_"
UNFINISHED = "unfinished_template_of_tests"
# The schema with copies of the rows that migrations wrote.
MADE = "made_by_migrations"
_LOCK = 7_236_904_151
_OWN_CODE = re.compile(r"^(?:from|import) ((?:chat|providers|retrieval|vault)\.[\w.]+)", re.M)
# What decides which columns and indexes the migrations make, besides themselves.
_SERVER = """
    SELECT version(), array_agg(name || default_version ORDER BY name)
    FROM pg_available_extensions
"""

_OWN_TABLES = """
    SELECT tablename FROM pg_tables
    WHERE schemaname = 'public' AND tablename ~ '^(chat|providers|retrieval|vault)_'
"""


def template_database() -> str:
    """The name of a database that holds what `migrate` makes, and no session.

    Made when there is none of the present migrations; those of earlier ones are dropped. Only
    one process at a time makes one, the others wait for it.
    """
    with _connected("postgres") as server:
        server.execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        name = PREFIX + _fingerprint(server)
        query = "SELECT datname FROM pg_database WHERE starts_with(datname, %s)"
        known = {found for (found,) in server.execute(query, [PREFIX])}
        if name not in known:
            for each in (*known, UNFINISHED):
                _do(server, "DROP DATABASE IF EXISTS {}", each)
            _do(server, "CREATE DATABASE {}", UNFINISHED)
            run_command("migrate", DATABASE_URL=_address(UNFINISHED))
            with _connected(UNFINISHED) as made:
                _keep_rows(made)
            _do(server, "ALTER DATABASE {} RENAME TO {}", UNFINISHED, name)
    return name


def _keep_rows(made: psycopg.Connection) -> None:
    """Copy the rows that migrations wrote into our own tables, for flush to put them back."""
    _do(made, "CREATE SCHEMA {}", MADE)
    for (table,) in made.execute(_OWN_TABLES).fetchall():
        if made.execute(sql.SQL("TABLE {} LIMIT 1").format(sql.Identifier(table))).fetchone():
            _do(made, "CREATE TABLE {}.{} AS TABLE {}", MADE, table, table)


def _fingerprint(server: psycopg.Connection) -> str:
    digest = hashlib.sha256(repr(server.execute(_SERVER).fetchone()).encode())
    for file in sorted({*_files(), Path(__file__)}):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _files() -> set[Path]:
    """The migrations, and the product's modules that they use."""
    files = {
        file for app in apps.get_app_configs() for file in Path(app.path).glob("migrations/*.py")
    }
    return files | {used for file in files for used in _used_by(file)}


def _used_by(file: Path) -> Iterator[Path]:
    for module in _OWN_CODE.findall(file.read_text()):
        place = ROOT.joinpath(*module.split("."))
        yield place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def _connected(database: str) -> psycopg.Connection:
    return psycopg.connect(_address(database), autocommit=True)


def _address(database: str) -> str:
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{database}").geturl()


def _do(server: psycopg.Connection, statement: str, *names: str) -> None:
    server.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
