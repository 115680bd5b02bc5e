"""Each app's migrations form one line that ends in one leaf, and hold no big table for long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import connection
from django.db.migrations import AddConstraint, AddField, AddIndex, AlterField, Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import CharField, Field, GeneratedField, Index, PositiveIntegerField
from django.db.models.fields import PositiveIntegerRelDbTypeMixin


@pytest.mark.parametrize("app", ["providers", "vault", "retrieval", "chat"])
def test_an_app_has_one_migration_leaf(app: str) -> None:
    loader = MigrationLoader(None, ignore_no_migrations=True)
    assert len(loader.graph.leaf_nodes(app)) == 1


# Tables that may have a million rows. What takes a lock on them and rewrites or reads them
# whole stops search and answers for minutes.
BIG = {
    "vault": {"note", "link", "chunk", "chunkvector", "notevector", "scrubfinding"},
    "retrieval": {"retrievalrun"},
    "chat": {"message", "runevent", "source"},
    "providers": {"usagerecord"},
}
# Run before anybody had rows: the tables are empty when they come.
FIRST = {
    "vault": "0007_search_indexes",
    "retrieval": "0003",
    "chat": "0003",
    "providers": "0002",
}


def migrations_of(app: str) -> Iterator[tuple[Migration, ProjectState]]:
    """Migrations of an app that come after the first ones, with the state before each."""
    graph = MigrationLoader(None, ignore_no_migrations=True).graph
    (leaf,) = graph.leaf_nodes(app)
    for key in graph.forwards_plan(leaf):
        if key[0] == app and key[1][:4] > FIRST[app][:4]:
            yield graph.nodes[key], graph.make_state(nodes=[key], at_end=False)


def faults_of(app: str, operation: Operation, state: ProjectState, *, is_atomic: bool) -> str:
    """Why an operation would hold a big table for long; empty when it would not."""
    if isinstance(operation, AddIndexConcurrently):
        return "needs atomic = False" if is_atomic else ""
    table = getattr(operation, "model_name", "").lower()
    is_new = (app, table) not in state.models
    if is_new or table not in BIG[app]:
        return ""
    if isinstance(operation, AddIndex):
        return "use AddIndexConcurrently"
    if isinstance(operation, AddConstraint):
        is_late = getattr(operation.constraint, "deferrable", None) is None
        return "reads every row: add it NOT VALID and validate it later" if is_late else ""
    if isinstance(operation, AddField):
        return added_field_fault(operation.field)
    if isinstance(operation, AlterField):
        before, after = state.models[app, table].fields[operation.name], operation.field
        is_kept = before.db_type(connection) == after.db_type(connection) or grows(before, after)
        return "" if is_kept and before.null == after.null else "changes a column's type"
    return ""


def grows(before: Field[Any, Any], after: Field[Any, Any]) -> bool:
    """Room for more characters is a matter of the catalogue alone."""
    if not isinstance(before, CharField) or not isinstance(after, CharField):
        return False
    return (after.max_length or 0) >= (before.max_length or 0)


def added_field_fault(field: Field[Any, Any]) -> str:
    if isinstance(field, GeneratedField):
        return "writes every row anew"
    if isinstance(field, PositiveIntegerRelDbTypeMixin):
        return "its check reads every row: use the signed kind"
    if field.has_default() and callable(field.default) and field.default not in (list, dict):
        return "has a default of its own for every row"
    return ""


@pytest.mark.parametrize("app", sorted(BIG))
def test_no_migration_holds_a_table_of_a_million_rows(app: str) -> None:
    faults = [
        f"{migration}: {operation.describe()}: {fault}"
        for migration, state in migrations_of(app)
        for operation in migration.operations
        if (fault := faults_of(app, operation, state, is_atomic=migration.atomic))
    ]
    assert faults == []


def test_the_rule_sees_what_would_hold_a_table() -> None:
    graph = MigrationLoader(None, ignore_no_migrations=True).graph
    state = graph.make_state(nodes=[("vault", "0007_search_indexes")])
    index = Index(fields=["vault"], name="some_index")
    for operation in (
        AddIndex("chunk", index),
        AddField("chunk", "more", PositiveIntegerField(default=0)),
        AlterField("chunk", "content", CharField(max_length=10)),
        AlterField("chunk", "embed_failed_by", CharField(max_length=3)),
    ):
        assert faults_of("vault", operation, state, is_atomic=True)
    assert faults_of("vault", AddIndexConcurrently("chunk", index), state, is_atomic=True)
    assert not faults_of("vault", AddIndexConcurrently("chunk", index), state, is_atomic=False)
    assert not faults_of("vault", AddIndex("vault", index), state, is_atomic=True)
