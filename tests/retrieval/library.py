"""Notes written straight into the tables, as the index would write them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np
from asgiref.sync import async_to_sync

from providers.models import EmbeddingModel, Provider
from providers.registry import embedder
from vault.core.lexical import made_tokens
from vault.core.names import lookup_keys
from vault.core.types import FileState
from vault.indexing import fill_note, reading_options
from vault.indexing import write_note as write_indexed
from vault.lexemes import know_lexemes
from vault.models import Chunk, ChunkVector, Note, Vault
from vault.reading import parse_file
from vault.staleness import fingerprint

DIMENSIONS = 64
MODIFIED = datetime(2026, 3, 1, tzinfo=UTC)


def make_embedding_model(name: str = "hash", *, dimensions: int = DIMENSIONS) -> EmbeddingModel:
    """An embedding model that needs no weights: words that two texts share bring them near."""
    provider, _ = Provider.objects.get_or_create(
        slug="fake", defaults={"name": "Fake", "kind": "fake", "needs_key": False}
    )
    return EmbeddingModel.objects.create(provider=provider, name=name, dimensions=dimensions)


def write_note(
    vault: Vault,
    path: str,
    *paragraphs: str,
    title: str = "",
    aliases: tuple[str, ...] = (),
    text_config: str = "english",
    properties: Mapping[str, object] | None = None,
) -> Note:
    """A note whose paragraphs are its chunks, one each."""
    name = title or path.rsplit("/", 1)[-1].removesuffix(".md")
    body = "\n\n".join(paragraphs)
    note = Note.objects.create(
        vault=vault,
        path=path,
        title=name,
        body=body,
        aliases=list(aliases),
        lookup_keys=lookup_keys(title=name, aliases=aliases, path=path),
        properties=dict(properties or {}),
        status=Note.Status.INDEXED,
        content_hash=_digest(body),
        file_modified=MODIFIED,
    )
    start = 0
    for ordinal, paragraph in enumerate(paragraphs):
        heading = "\n".join((name, *aliases))
        Chunk.objects.create(
            vault=vault,
            note=note,
            ordinal=ordinal,
            heading_path=[name],
            heading_text=heading,
            content=paragraph,
            made_tokens=made_tokens(f"{heading}\n{paragraph}"),
            start=start,
            end=start + len(paragraph),
            start_line=1,
            end_line=1,
            tokens=max(1, len(re.findall(r"\w+", paragraph))),
            embed_hash=_digest(name + paragraph),
            text_config=text_config,
        )
        start += len(paragraph) + 2
    return note


def write_markdown(vault: Vault, path: str, text: str) -> Note:
    """A note read, cut and indexed from Markdown by the product's own functions."""
    options = reading_options(vault)
    data = text.encode()
    state = FileState(path, len(data), MODIFIED, hashlib.sha256(data).hexdigest())
    reading = parse_file(data, path=path, options=options)
    note = Note(vault=vault)
    fill_note(note, state, reading)
    write_indexed(note, reading, text_changed=True)
    know_lexemes([note.pk])
    return note


def embed(vault: Vault, model: EmbeddingModel) -> None:
    """Give every chunk of `vault` a vector of `model` and let it serve."""
    chunks = list(Chunk.objects.filter(vault=vault).order_by("pk"))
    if chunks:
        texts = [f"{' '.join(chunk.heading_path)} {chunk.content}" for chunk in chunks]
        vectors = async_to_sync(embedder(model).embed_passages)(texts)
        ChunkVector.objects.bulk_create(
            ChunkVector(
                vault=vault,
                chunk=chunk,
                embedding_model=model,
                embed_hash=chunk.embed_hash,
                fingerprint=fingerprint(model),
                vector=np.asarray(vector),
            )
            for chunk, vector in zip(chunks, vectors, strict=True)
        )
    vault.embedding_model = model
    vault.save(update_fields=["embedding_model"])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
