"""Rows of notes, for tests that need no folder."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from django.utils import timezone

from providers.models import EmbeddingModel, Provider
from vault.models import Link, Note, NoteVector, Vault


def make_note(vault: Vault, path: str, body: str = "", **fields: Any) -> Note:
    """An indexed note of `vault`."""
    name = path.rsplit("/", 1)[-1].removesuffix(".md")
    values: dict[str, Any] = {
        "title": name,
        "body": body,
        "status": Note.Status.INDEXED,
        "content_hash": hashlib.sha256(body.encode()).hexdigest(),
        "file_modified": timezone.now(),
        "size": len(body.encode()),
    }
    return Note.objects.create(vault=vault, path=path, **(values | fields))


def make_link(source: Note, target: Note | None, raw_target: str = "") -> Link:
    """A link as the sync stores it."""
    raw = raw_target or (target.title if target else "")
    return Link.objects.create(vault=source.vault, source=source, target=target, raw_target=raw)


def make_model(vault: Vault) -> EmbeddingModel:
    """An embedding model that serves `vault`."""
    provider, _ = Provider.objects.get_or_create(slug="made-up", defaults={"kind": "fake"})
    model, _ = EmbeddingModel.objects.get_or_create(
        provider=provider, name="made-up", defaults={"dimensions": 4, "max_tokens": 100}
    )
    Vault.objects.filter(pk=vault.pk).update(embedding_model=model)
    vault.refresh_from_db()
    return model


def make_vector(note: Note, model: EmbeddingModel, *numbers: float) -> NoteVector:
    """The vector of a whole note, made unit."""
    vector = np.asarray(numbers, dtype=np.float32)
    return NoteVector.objects.create(
        vault=note.vault,
        note=note,
        embedding_model=model,
        embed_hash="x",
        vector=vector / np.linalg.norm(vector),
    )
