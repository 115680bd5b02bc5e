"""A backup holds all that cannot be made anew, and comes back into an empty database."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from secondbrain.backup import DUMP, SECRETS, BackupFailed, restore_backup, write_backup
from tests.cast import make_cast
from tests.chat.pages import add_turn, make_conversation
from tests.live import run_command
from tests.retrieval.library import embed, make_embedding_model, write_note

COUNTS = """
    SELECT (SELECT count(*) FROM chat_source), (SELECT count(*) FROM vault_chunk),
           (SELECT count(*) FROM vault_chunkvector), (SELECT text FROM chat_message
            WHERE role = 'assistant')
"""


@pytest.fixture
def empty_database(transactional_db: None) -> Iterator[str]:
    """The address of a database without a table."""
    name = f"{connection.settings_dict['NAME']}_restored"
    address = urlsplit(os.environ["DATABASE_URL"])
    with psycopg.connect(address._replace(path="/postgres").geturl(), autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        try:
            yield address._replace(path=f"/{name}").geturl()
        finally:
            server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.mark.slow
def test_conversations_come_back_and_vectors_are_left_to_the_worker(
    empty_database: str, tmp_path: Path
) -> None:
    cast, place = make_cast(), tmp_path / "all.zip"
    note = write_note(cast.vault, "Pump.md", "The pump failed in March.")
    embed(cast.vault, make_embedding_model())
    add_turn(make_conversation(cast.owner), "When?", "In March. [1]", note=note)
    call_command("backup", str(place))
    assert place.stat().st_mode & 0o077 == 0
    data = tmp_path / "data"
    data.mkdir()
    given = {"DATABASE_URL": empty_database, "DATA_DIR": str(data), "ENCRYPTION_KEYS": "another"}
    said = run_command("restore", str(place), SECRET_KEY="", **given)
    assert "SECRET_KEY is kept in" in said
    assert "ENCRYPTION_KEYS is set to another value" in said
    assert (data / "secret_key").read_text() == os.environ["SECRET_KEY"]
    with psycopg.connect(empty_database) as restored:
        assert restored.execute(COUNTS).fetchone() == (1, 1, 0, "In March. [1]")


def test_nothing_is_overwritten_and_what_cannot_be_written_says_so(tmp_path: Path) -> None:
    there = tmp_path / "old.zip"
    there.write_text("precious")
    with pytest.raises(BackupFailed, match="is there already"):
        write_backup(there)
    with pytest.raises(CommandError, match="no folder"):
        call_command("backup", str(tmp_path / "nowhere" / "new.zip"))
    assert there.read_text() == "precious"


def test_a_database_in_use_is_never_restored_over(db: Any, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as files:
        for name in (DUMP, *SECRETS):
            files.writestr(name, "x")
    with pytest.raises(CommandError, match="not empty, and nothing of it was touched"):
        call_command("restore", str(tmp_path / "all.zip"))


def test_a_file_that_is_no_backup_is_named(tmp_path: Path) -> None:
    broken, foreign = tmp_path / "broken.zip", tmp_path / "foreign.zip"
    broken.write_bytes(b"PK nothing")
    with zipfile.ZipFile(foreign, "w") as files:
        files.writestr(next(iter(SECRETS)), "x")
    for place in (broken, foreign, tmp_path / "missing.zip"):
        with pytest.raises(BackupFailed, match="is no readable backup"):
            restore_backup(place)
