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
