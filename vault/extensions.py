"""PostgreSQL extensions that are used when the server has them."""

from __future__ import annotations

from typing import Any

from django.db.migrations.operations.base import Operation


class CreateExtensionIfAvailable(Operation):
    """CREATE EXTENSION for what this server can install; silence for what it cannot.

    Without `vector`, search by meaning is exact and slower; without `pg_trgm`, typos are
    not mended. Neither stops the product.
    """

    reversible = True

    def __init__(self, name: str) -> None:
        self.name = name

    def state_forwards(self, app_label: str, state: Any) -> None:
        """Extensions are no part of Django's model state."""

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        with schema_editor.connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_available_extensions WHERE name = %s", [self.name])
            if cursor.fetchone():
                cursor.execute(f"CREATE EXTENSION IF NOT EXISTS {self.name}")

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        """The extension stays: other databases' objects may use it."""

    def describe(self) -> str:
        return f"Create extension {self.name} where the server has it"


class CreateTrigramIndexIfAvailable(Operation):
    """A trigram index, CONCURRENTLY, where pg_trgm is installed; nothing where it is not.

    The index is no part of Django's model state: a model that names it could not be made
    on a server without the extension.
    """

    atomic = False
    reversible = True

    def __init__(self, name: str, *, table: str, column: str) -> None:
        self.name, self.table, self.column = name, table, column

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        names = {"table": self.table, "column": self.column}
        return (type(self).__name__, [self.name], names)

    def state_forwards(self, app_label: str, state: Any) -> None:
        """See the class."""

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        quote = schema_editor.quote_name
        with schema_editor.connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'")
            if cursor.fetchone():
                cursor.execute(
                    f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {quote(self.name)} "
                    f"ON {quote(self.table)} USING gin ({quote(self.column)} gin_trgm_ops)"
                )

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        with schema_editor.connection.cursor() as cursor:
            name = schema_editor.quote_name(self.name)
            cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")

    def describe(self) -> str:
        return f"Create trigram index {self.name} where the server can"
