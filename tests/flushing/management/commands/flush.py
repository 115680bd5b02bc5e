"""manage.py flush, as the tests run it four hundred times: it empties what is filled, and puts
back what migrations had written. Which tests ran before makes no difference to a test."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management.commands import flush
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from tests.database import MADE

# What `migrate` fills from the models: it is the same after any test. Django empties these
# as well and then makes the rows again.
MADE_BY_MIGRATE = {ContentType._meta.db_table, Permission._meta.db_table}
# Up to this size in bytes a table is emptied row by row: TRUNCATE makes every file of a
# table and its indexes anew, which takes fifty times as long as deleting a few rows. Deleted
# rows take room until somebody cleans up, so what has grown is truncated after all.
SMALL = 128 * 1024


class Command(flush.Command):
    help = "Empty the tables that hold rows, but for those that migrate filled."

    def handle(self, **options: Any) -> None:
        connection = connections[options["database"]]
        quote = connection.ops.quote_name
        filled = filled_tables(connection)
        small = [quote(table) for table, size in filled.items() if size <= SMALL]
        grown = [quote(table) for table, size in filled.items() if size > SMALL]
        # In one transaction: references are looked at when all rows are gone. What is
        # truncated comes first, since it may not wait to be looked at.
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            if grown:
                # CASCADE: the tables that refer to these are empty, or to be emptied.
                cursor.execute(f"TRUNCATE {', '.join(grown)} CASCADE")
            if small:
                cursor.execute(";".join(f"DELETE FROM {table}" for table in small))
            for table in map(quote, tables_with_rows_of_migrations(connection)):
                cursor.execute(f"INSERT INTO {table} TABLE {quote(MADE)}.{table}")


def tables_with_rows_of_migrations(connection: BaseDatabaseWrapper) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", [MADE])
        return [table for (table,) in cursor.fetchall()]


def filled_tables(connection: BaseDatabaseWrapper) -> dict[str, int]:
    """The tables of models that hold a row, with their size in bytes."""
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    quote = connection.ops.quote_name
    looks = [
        f"(SELECT '{table}', pg_table_size('{quote(table)}') FROM {quote(table)} LIMIT 1)"
        for table in sorted(set(tables) - MADE_BY_MIGRATE)
    ]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(looks))
        return dict(cursor.fetchall())
