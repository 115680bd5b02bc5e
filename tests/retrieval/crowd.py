"""Passages by their vectors alone, as many as an index needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from django.db import connection

from providers.models import EmbeddingModel
from vault.fields import Vector
from vault.models import Chunk, ChunkVector, Note, Vault
from vault.staleness import fingerprint
from vault.vector_index import index_name, model_condition, vector_cast

DIMENSIONS = 32


def unit(vector: Any) -> Vector:
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


def fill(
    vault: Vault,
    model: EmbeddingModel,
    vectors: Sequence[Vector],
    *,
    path: str = "n.md",
    body: str = "the pump",
    tags: Sequence[str] = (),
    is_code: bool = False,
) -> Note:
    """One note with a chunk of the same text for each vector."""
    note = Note.objects.create(
        vault=vault, path=path, title="n", content_hash="x", file_modified="2026-01-01T00:00Z",
        tags=list(tags),
    )  # fmt: skip
    chunks = Chunk.objects.bulk_create(
        Chunk(
            vault=vault, note=note, ordinal=number, heading_path=["n"], content=body,
            start=0, end=1, start_line=1, end_line=1, tokens=1, embed_hash="x", is_code=is_code,
        )
        for number in range(len(vectors))
    )  # fmt: skip
    ChunkVector.objects.bulk_create(
        ChunkVector(
            vault=vault, chunk=chunk, embedding_model=model, embed_hash="x",
            fingerprint=fingerprint(model), vector=vector,
        )
        for chunk, vector in zip(chunks, vectors, strict=True)
    )  # fmt: skip
    vault.embedding_model = model
    vault.save()
    return note


def build_index(model: EmbeddingModel) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(
            f"CREATE INDEX {index_name(model)} ON vault_chunkvector USING hnsw "
            f"((vector::{vector_cast(model)}) halfvec_cosine_ops) "
            f"WHERE {model_condition(model)}"
        )
        cursor.execute("ANALYZE vault_chunkvector")
