"""The vector index: built when it pays, dropped when not, and seen by the planner."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from django.db import connection

from providers.models import EmbeddingModel, Provider
from tests.vault.folders import Folder, make_folder
from tests.vault.processes import in_a_copy, wait_until
from vault import jobs, vector_index
from vault.fields import vector_literal
from vault.index_page import index_page
from vault.jobs import Again, RetryLater
from vault.models import Chunk, ChunkVector, Note
from vault.presenters import job_words
from vault.tasks import request_vector_index, vector_index_job
from vault.vector_index import (
    IndexBuildFailed,
    IndexWork,
    build_progress,
    fit_index,
    has_index,
    model_condition,
    vector_expression,
    work_on_index,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index pays from 100 vectors on, so that the test stays quick."""
    monkeypatch.setattr(vector_index, "WORTH_AN_INDEX", 100)


@pytest.fixture
def model() -> Iterator[EmbeddingModel]:
    provider = Provider.objects.create(slug="fake", name="Fake", kind="fake", needs_key=False)
    model = EmbeddingModel.objects.create(provider=provider, name="hash", dimensions=8)
    yield model
    ChunkVector.objects.all().delete()
    vector_index.WORTH_AN_INDEX = 5000
    fit_index(model)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    folder = make_folder(tmp_path / "notes")
    folder.write("a.md", "# A")
    folder.sync()
    return folder


def add_vectors(folder: Folder, model: EmbeddingModel, count: int) -> None:
    """That many chunks with random vectors."""
    note = Note.objects.get(vault=folder.vault)
    first = Chunk.objects.count()
    spans = {"start": 0, "end": 1, "start_line": 1, "end_line": 1, "tokens": 1}
    chunks = Chunk.objects.bulk_create(
        Chunk(
            vault=folder.vault,
            note=note,
            ordinal=first + number,
            heading_path=["A"],
            content="text",
            embed_hash="h",
            **spans,
        )
        for number in range(count)
    )
    numbers = np.random.default_rng(7).normal(size=(count, model.dimensions))
    ChunkVector.objects.bulk_create(
        ChunkVector(
            vault=folder.vault, chunk=chunk, embedding_model=model, embed_hash="h", vector=vector
        )
        for chunk, vector in zip(chunks, numbers.astype(np.float32), strict=True)
    )


def plan_of_a_query(model: EmbeddingModel) -> str:
    """How PostgreSQL would find the ten nearest, forbidden to read the whole table."""
    probe = vector_literal(np.ones(model.dimensions, dtype=np.float32))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE vault_chunkvector")
        cursor.execute("SET enable_seqscan = off")
        cursor.execute("SET enable_sort = off")
        cursor.execute(
            f"EXPLAIN SELECT id FROM vault_chunkvector WHERE {model_condition(model)} "
            f"ORDER BY {vector_expression(model)} <=> "
            f"%s::{vector_index.vector_cast(model)} LIMIT 10",
            [probe],
        )
        plan = "\n".join(row[0] for row in cursor.fetchall())
        cursor.execute("RESET enable_seqscan")
        cursor.execute("RESET enable_sort")
    return plan


def test_few_vectors_get_no_index(small: None, folder: Folder, model: EmbeddingModel) -> None:
    add_vectors(folder, model, 100)
    assert fit_index(model) == ""
    assert not has_index(model)


def test_the_index_is_built_once_and_a_query_uses_it(
    small: None, folder: Folder, model: EmbeddingModel
) -> None:
    add_vectors(folder, model, 101)
    assert fit_index(model) == "built"
    assert has_index(model)
    assert fit_index(model) == ""
    assert f"Index Scan using {vector_index.index_name(model)}" in plan_of_a_query(model)


def test_the_index_of_one_model_is_none_of_another(
    small: None, folder: Folder, model: EmbeddingModel
) -> None:
    other = EmbeddingModel.objects.create(provider=model.provider, name="wide", dimensions=16)
    add_vectors(folder, model, 101)
    add_vectors(folder, other, 20)
    assert fit_index(model) == "built", "vectors of another length do not hinder the build"
    assert vector_index.index_name(model) not in plan_of_a_query(other)


def test_an_index_that_does_not_pay_any_more_is_dropped(
    small: None, folder: Folder, model: EmbeddingModel
) -> None:
    add_vectors(folder, model, 101)
    fit_index(model)
    ChunkVector.objects.filter(pk__in=ChunkVector.objects.values("pk")[:40]).delete()
    assert fit_index(model) == "", "not at every little change"
    ChunkVector.objects.all().delete()
    assert fit_index(model) == "dropped"
    assert not has_index(model)


def test_what_a_killed_build_left_is_built_again(
    small: None, folder: Folder, model: EmbeddingModel
) -> None:
    add_vectors(folder, model, 101)
    fit_index(model)
    name = vector_index.index_name(model)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", [name]
        )
    assert not has_index(model)
    assert fit_index(model) == "built"
    assert has_index(model)


@contextmanager
def a_writer() -> Iterator[None]:
    """Somebody in the middle of writing vectors: a build waits for that."""
    session = connection.get_new_connection(connection.get_connection_params())
    try:
        session.execute("LOCK TABLE vault_chunkvector IN ROW EXCLUSIVE MODE")
        yield
    finally:
        session.close()


def test_a_build_is_looked_at_without_waiting_for_it(
    small: None, folder: Folder, model: EmbeddingModel
) -> None:
    add_vectors(folder, model, 101)
    assert build_progress(model) is None
    with a_writer():
        assert work_on_index(model) is IndexWork.BUILDING
        wait_until(lambda: build_progress(model) is not None, "the database says how far it is")
        assert work_on_index(model) is IndexWork.BUILDING
        assert not has_index(model)
    assert fit_index(model) is IndexWork.BUILT
    assert build_progress(model) is None


def test_a_build_whose_process_was_killed_is_ended_by_the_database(
    small: None, folder: Folder, model: EmbeddingModel
) -> None:
    add_vectors(folder, model, 101)

    def begin_and_die() -> None:
        work_on_index(model)
        os.kill(os.getpid(), signal.SIGKILL)

    with a_writer():
        assert in_a_copy(begin_and_die) == signal.SIGKILL
        wait_until(lambda: build_progress(model) is not None, "the build goes on")
        assert work_on_index(model) is IndexWork.BUILDING, "and no second one begins beside it"
    assert fit_index(model) is IndexWork.NOTHING
    assert has_index(model)


def test_a_build_that_the_database_was_stopped_at_begins_anew(
    small: None, folder: Folder, model: EmbeddingModel
) -> None:
    add_vectors(folder, model, 101)
    with a_writer():
        work_on_index(model)
        wait_until(lambda: build_progress(model) is not None, "it is being built")
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_progress_create_index"
            )
    with pytest.raises(IndexBuildFailed, match=r"terminating connection|closed"):
        fit_index(model)
    assert vector_index._state(vector_index.index_name(model)) == "", "no invalid index is left"
    assert fit_index(model) is IndexWork.BUILT


def test_a_build_that_fails_says_why_and_leaves_nothing(
    small: None, folder: Folder, model: EmbeddingModel
) -> None:
    add_vectors(folder, model, 101)
    EmbeddingModel.objects.update(dimensions=16)
    model.refresh_from_db()
    job = request_vector_index(model.pk)
    with pytest.raises(RetryLater, match="expected 16 dimensions"):
        while vector_index_job(job) is not None:
            pass
    assert vector_index._state(vector_index.index_name(model)) == ""


def test_the_job_goes_on_in_slices_and_the_page_shows_how_far_it_is(
    small: None, folder: Folder, model: EmbeddingModel
) -> None:
    add_vectors(folder, model, 101)
    folder.vault.embedding_model = model
    folder.vault.save()
    job = request_vector_index(model.pk)
    with a_writer():
        vector_index_job(job)
        wait_until(lambda: build_progress(model) is not None, "it is being built")
        assert isinstance(vector_index_job(job), Again)
        jobs.claim(job.pk)
        job.refresh_from_db()
        vector_index_job(job)
        shown = index_page(folder.vault).job
        assert shown is not None
        assert job_words(shown).startswith("Building the index of vectors")
    while vector_index_job(job) is not None:
        pass
    assert has_index(model)
