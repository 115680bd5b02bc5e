"""One HNSW index for each embedding model, over its vectors alone.

The column has no fixed length, so the index is on a cast, and only over the rows of its
model. A query must use the same cast and the same condition, or PostgreSQL cannot see
that the index fits: both come from here.
"""

from __future__ import annotations

from django.db import connection

from providers.models import EmbeddingModel
from vault.fields import has_halfvec
from vault.locks import Work, only_one
from vault.models import ChunkVector

# Below about 5,000 vectors an exact scan takes under 10 ms and finds everything.
WORTH_AN_INDEX = 5000
# hnsw on halfvec takes no more.
MOST_DIMENSIONS = 4000
# 161,000 vectors: 54 s when the graph fits in memory, 178 s with the default 64 MB.
BUILD_MEMORY = "256MB"


def vector_cast(model: EmbeddingModel) -> str:
    """The type that index and query cast vectors to: `halfvec(384)`."""
    return f"halfvec({int(model.dimensions)})"


def vector_expression(model: EmbeddingModel, *, table: str = "vault_chunkvector") -> str:
    """The indexed expression, for ORDER BY: nothing else may stand there."""
    return f"{table}.vector::{vector_cast(model)}"


def model_condition(model: EmbeddingModel, *, table: str = "vault_chunkvector") -> str:
    """The condition of the index; the id is a literal, since a plan with a parameter in
    its place cannot use a partial index."""
    return f"{table}.embedding_model_id = {int(model.pk)}"


def index_name(model: EmbeddingModel) -> str:
    return f"chunkvector_hnsw_{int(model.pk)}"


def has_index(model: EmbeddingModel) -> bool:
    """Whether the model's index is there and complete."""
    return _state(index_name(model)) == "valid"


def fit_index(model: EmbeddingModel) -> str:
    """Build the model's index when it is worth it, drop it when not.

    Returns "built", "dropped" or "". Not in a transaction: reads and writes go on
    meanwhile. An index that a killed build left behind is built again.
    """
    if not has_halfvec(connection):
        return ""
    with only_one(Work.INDEX, model.pk):
        state = _state(index_name(model))
        rows = ChunkVector.objects.filter(embedding_model=model).count()
        if rows > WORTH_AN_INDEX and model.dimensions <= MOST_DIMENSIONS:
            if state == "valid":
                return ""
            _drop(model)
            _build(model)
            return "built"
        if state and rows <= WORTH_AN_INDEX // 2:
            _drop(model)
            return "dropped"
        return ""


def _build(model: EmbeddingModel) -> None:
    expression = f"(vector::{vector_cast(model)}) halfvec_cosine_ops"
    with connection.cursor() as cursor:
        cursor.execute(f"SET maintenance_work_mem = '{BUILD_MEMORY}'")
        try:
            cursor.execute(
                f"CREATE INDEX CONCURRENTLY {index_name(model)} ON vault_chunkvector "
                f"USING hnsw ({expression}) WHERE embedding_model_id = {int(model.pk)}"
            )
        finally:
            cursor.execute("RESET maintenance_work_mem")


def _drop(model: EmbeddingModel) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index_name(model)}")


def _state(name: str) -> str:
    """ "valid", "broken" (a build was cut), or "" when there is none."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "WHERE c.relname = %s AND pg_table_is_visible(c.oid)",
            [name],
        )
        row = cursor.fetchone()
    if row is None:
        return ""
    return "valid" if row[0] else "broken"
