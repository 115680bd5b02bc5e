"""What waits for a vector, read from the tables."""

from __future__ import annotations

import hashlib
from collections.abc import Collection

from django.db.models import Exists, OuterRef, Q, QuerySet

from providers.models import EmbeddingModel
from vault.models import Chunk, ChunkVector, Vault

SPACE_LENGTH = 16


def fingerprint(model: EmbeddingModel) -> str:
    """Short name of the vector space of `model`: vectors of two are never compared."""
    return hashlib.sha256(model.fingerprint.encode()).hexdigest()[:SPACE_LENGTH]


def stale_chunks(vault_id: int, model: EmbeddingModel) -> QuerySet[Chunk]:
    """Chunks without a vector of their present text under `model`, failed ones included."""
    return stale_chunks_of([vault_id], model)


def stale_chunks_of(vault_ids: Collection[int], model: EmbeddingModel) -> QuerySet[Chunk]:
    """As stale_chunks, of several vaults."""
    current = ChunkVector.objects.filter(
        embedding_model=model,
        vault_id__in=vault_ids,
        chunk=OuterRef("pk"),
        embed_hash=OuterRef("embed_hash"),
        fingerprint=fingerprint(model),
    )
    return Chunk.objects.filter(~Exists(current), vault_id__in=vault_ids)


def pending_chunks(vault_id: int, model: EmbeddingModel) -> QuerySet[Chunk]:
    """Stale chunks that this model has not refused yet."""
    return stale_chunks(vault_id, model).exclude(refused_by(model))


def refused_by(model: EmbeddingModel) -> Q:
    """Chunks that this model could not embed, each with its reason."""
    return ~Q(embed_failed="") & Q(embed_failed_by__contains=fingerprint(model))


def has_pending(vault_id: int) -> bool:
    """Whether something of a vault waits for a vector, under its model or the next one."""
    return any(pending_chunks(vault_id, model).exists() for model in models_of(vault_id))


def models_of(vault_id: int) -> list[EmbeddingModel]:
    """The model that serves the vault, then the one that is to follow it."""
    vaults = Vault.every.select_related(
        "embedding_model__provider", "next_embedding_model__provider"
    )
    vault = vaults.get(pk=vault_id)
    return [model for model in (vault.embedding_model, vault.next_embedding_model) if model]
