"""Each app's migrations form one line that ends in one leaf."""

from __future__ import annotations

import pytest
from django.db.migrations.loader import MigrationLoader


@pytest.mark.parametrize("app", ["providers", "vault", "retrieval", "chat"])
def test_an_app_has_one_migration_leaf(app: str) -> None:
    loader = MigrationLoader(None, ignore_no_migrations=True)
    assert len(loader.graph.leaf_nodes(app)) == 1
