"""What the database may lack: the migration goes on without it."""

from __future__ import annotations

import pytest
from django.db import connection

from vault.extensions import CreateTrigramIndexIfAvailable

pytestmark = pytest.mark.django_db

OPERATION = CreateTrigramIndexIfAvailable("lexeme_trigrams", table="vault_lexeme", column="lexeme")


def has_index() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('lexeme_trigrams') IS NOT NULL")
        return bool(cursor.fetchone()[0])


def test_the_migrations_made_the_index() -> None:
    assert has_index()


def test_without_pg_trgm_there_is_no_index_and_no_error() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP EXTENSION pg_trgm CASCADE")
    assert not has_index()
    with connection.schema_editor() as editor:
        OPERATION.database_forwards("vault", editor, None, None)
    assert not has_index()


def test_a_migration_can_be_written_with_it() -> None:
    name, arguments, keywords = OPERATION.deconstruct()
    assert name == "CreateTrigramIndexIfAvailable"
    again = CreateTrigramIndexIfAvailable(*arguments, **keywords)
    assert again.deconstruct() == OPERATION.deconstruct()
    assert "lexeme_trigrams" in again.describe()
