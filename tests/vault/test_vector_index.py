"""The vector index: built when it pays, dropped when not, and seen by the planner."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from django.db import connection

from providers.models import EmbeddingModel, Provider
from tests.vault.folders import Folder, make_folder
from vault import vector_index
from vault.fields import vector_literal
from vault.models import Chunk, ChunkVector, Note
from vault.vector_index import fit_index, has_index, model_condition, vector_expression

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
