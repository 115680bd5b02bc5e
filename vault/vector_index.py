"""One HNSW index for each embedding model, over its vectors alone.

The column has no fixed length, so the index is on a cast, and only over the rows of its
model. A query must use the same cast and the same condition, or PostgreSQL cannot see
that the index fits: both come from here.

A build may take longer than any job may run. So it is sent to a database session of its
own and looked at again and again; the server ends it even when who asked for it is gone.
"""

from __future__ import annotations

import select
import time
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import psycopg
from django.db import connection
from psycopg.pq import ExecStatus

from providers.models import EmbeddingModel
from vault.fields import has_halfvec
from vault.locks import Busy, Work, only_one
from vault.models import ChunkVector

# Below about 5,000 vectors an exact scan takes under 10 ms and finds everything.
WORTH_AN_INDEX = 5000
# hnsw on halfvec takes no more.
MOST_DIMENSIONS = 4000
# 161,000 vectors: 54 s when the graph fits in memory, 178 s with the default 64 MB.
BUILD_MEMORY = "256MB"
# Neighbours looked at for each vector when it is put in. With the default of 64 the nearest ten
# of 100,000 vectors are found to 0.93 by ef_search 200, with this to 0.98; a build takes half
# as long again, a search no longer.
BUILD_WIDTH = 128
# Seconds between two looks at a build that somebody waits for.
LOOK_AGAIN = 0.5
# By model: builds that this process sent off, in sessions that hold the lock of the work.
_BUILDS: dict[int, psycopg.Connection[Any]] = {}


class IndexWork(StrEnum):
    """What was done about an index, or is being done by the database."""

    NOTHING = ""
    BUILDING = "building"
    BUILT = "built"
    DROPPED = "dropped"


class IndexBuildFailed(Exception):
    """The database could not build an index; `str()` is its reason. Nothing of it is left."""


@dataclass(frozen=True, slots=True)
class BuildProgress:
    """How far the database is: `phase` in its words, blocks of the table read, of `total`."""

    phase: str
    done: int
    total: int


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


def fit_index(model: EmbeddingModel) -> IndexWork:
    """Build the model's index when it is worth it, drop it when not, and wait for that.

    Not in a transaction: reads and writes go on meanwhile. An index that a killed build
    left behind is built again. Raises IndexBuildFailed.
    """
    work = work_on_index(model)
    while work is IndexWork.BUILDING:
        if model.pk in _BUILDS:
            select.select([_BUILDS[model.pk].fileno()], [], [], LOOK_AGAIN)
        else:
            time.sleep(LOOK_AGAIN)
        work = work_on_index(model)
    return work


def work_on_index(model: EmbeddingModel) -> IndexWork:
    """As `fit_index`, without waiting: call again while the database is BUILDING, for this
    process or another."""
    if not has_halfvec(connection):
        return IndexWork.NOTHING
    if model.pk in _BUILDS:
        return _look_at_build(model)
    state = _state(index_name(model))
    rows = ChunkVector.objects.filter(embedding_model=model).count()
    if rows > WORTH_AN_INDEX and model.dimensions <= MOST_DIMENSIONS:
        return IndexWork.NOTHING if state == "valid" else _begin_build(model)
    if state and rows <= WORTH_AN_INDEX // 2:
        try:
            with only_one(Work.INDEX, model.pk):
                _drop(model)
        except Busy:
            return IndexWork.BUILDING
        return IndexWork.DROPPED
    return IndexWork.NOTHING


def build_progress(model: EmbeddingModel) -> BuildProgress | None:
    """How far the build of the model's index is; None when none is being built."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT phase, blocks_done, blocks_total FROM pg_stat_progress_create_index "
            "WHERE index_relid = to_regclass(%s)",
            [index_name(model)],
        )
        row = cursor.fetchone()
    return BuildProgress(*row) if row else None


def _begin_build(model: EmbeddingModel) -> IndexWork:
    """Send the build off. The session holds the lock of the work until it is over, also when
    this process ends before: then nobody begins a second build beside it."""
    session = connection.get_new_connection(connection.get_connection_params())
    session.autocommit = True
    try:
        lock = "SELECT pg_try_advisory_lock(%s, %s)"
        is_ours = session.execute(lock, [int(Work.INDEX), model.pk]).fetchone()
        if not (is_ours and is_ours[0]):
            return IndexWork.BUILDING
        if _state(index_name(model)) == "valid":
            return IndexWork.NOTHING  # built a moment ago
        _drop(model)
        session.execute("SET statement_timeout = 0")
        session.execute("SET client_connection_check_interval = 0")
        session.execute(f"SET maintenance_work_mem = '{BUILD_MEMORY}'")
        session.pgconn.send_query(_build_statement(model).encode())
        while session.pgconn.flush():
            select.select([], [session.fileno()], [])
        _BUILDS[model.pk] = session
        return IndexWork.BUILDING
    finally:
        if model.pk not in _BUILDS:
            session.close()


def _build_statement(model: EmbeddingModel) -> str:
    expression = f"(vector::{vector_cast(model)}) halfvec_cosine_ops"
    return (
        f"CREATE INDEX CONCURRENTLY {index_name(model)} ON vault_chunkvector "
        f"USING hnsw ({expression}) WITH (ef_construction = {BUILD_WIDTH}) "
        f"WHERE embedding_model_id = {int(model.pk)}"
    )


def _look_at_build(model: EmbeddingModel) -> IndexWork:
    session = _BUILDS[model.pk]
    is_over, failure = True, ""
    try:
        session.pgconn.consume_input()
        if session.pgconn.is_busy():
            is_over = False
            return IndexWork.BUILDING
        while (result := session.pgconn.get_result()) is not None:
            if result.status != ExecStatus.COMMAND_OK:
                failure = result.get_error_message()
    except psycopg.OperationalError as error:
        failure = str(error)
    finally:
        if is_over:
            del _BUILDS[model.pk]
            session.close()
    if failure:
        _drop(model)
        raise IndexBuildFailed(f"The index of vectors could not be built: {failure.strip()}")
    return IndexWork.BUILT


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
