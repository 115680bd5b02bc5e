"""Many new rows at once by COPY, which takes a third of the time that INSERT does."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from django.db import connection
from django.db.models import Field, JSONField, Model


def copy_rows(model: type[Model], rows: Sequence[Model], *, with_ids: bool = False) -> None:
    """Insert new `rows` as bulk_create would; `with_ids` sets their primary keys as well.

    Raises django.db.DatabaseError when the database refuses one of them, and ValueError for
    a text that has no bytes (a lone surrogate): none is inserted then. Call in a transaction.
    """
    if not rows:
        return
    if with_ids:
        _give_ids(model, rows)
    fields = [
        field
        for field in model._meta.concrete_fields
        if not field.generated and (with_ids or not field.primary_key)
    ]
    quote = connection.ops.quote_name
    columns = ", ".join(quote(str(field.column)) for field in fields)
    statement = f"COPY {quote(model._meta.db_table)} ({columns}) FROM STDIN"
    values = attrgetter(*(field.attname for field in fields))
    timed = [field for field in fields if type(field).pre_save is not Field.pre_save]
    json = [place for place, field in enumerate(fields) if isinstance(field, JSONField)]
    with (
        connection.wrap_database_errors,
        connection.cursor() as cursor,
        cursor.copy(statement) as copy,
    ):
        for row in rows:
            for field in timed:
                field.pre_save(row, add=True)
            copy.write_row(_with_json(list(values(row)), fields, json))


def _with_json(values: list[Any], fields: Sequence[Any], places: Sequence[int]) -> list[Any]:
    """A list would be sent as an array of the database's, where JSON is wanted."""
    for place in places:
        values[place] = fields[place].get_db_prep_save(values[place], connection)
    return values


def _give_ids(model: type[Model], rows: Sequence[Model]) -> None:
    """Take primary keys for new rows, in their order."""
    table, column = model._meta.db_table, model._meta.pk.column
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, %s)) FROM generate_series(1, %s)",
            [connection.ops.quote_name(table), column, len(rows)],
        )
        for row, (pk,) in zip(rows, cursor.fetchall(), strict=True):
            row.pk = pk
