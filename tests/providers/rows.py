"""Rows for tests of this app."""

from __future__ import annotations

from typing import Any

from providers.models import ChatModel, EmbeddingModel, Provider, RerankModel


def make_provider(slug: str = "acme", *, kind: str = "openai", **fields: Any) -> Provider:
    """An enabled provider at a public address that needs a key and has none."""
    defaults = {"name": slug.title(), "base_url": "https://models.example.com/v1"}
    return Provider.objects.create(slug=slug, kind=kind, **{**defaults, **fields})


def make_chat_model(provider: Provider, name: str = "big", **fields: Any) -> ChatModel:
    return ChatModel.objects.create(provider=provider, name=name, **fields)


def make_embedding_model(provider: Provider, name: str = "vec", **fields: Any) -> EmbeddingModel:
    return EmbeddingModel.objects.create(
        provider=provider, name=name, **{"dimensions": 64, **fields}
    )


def make_rerank_model(provider: Provider, name: str = "rank", **fields: Any) -> RerankModel:
    return RerankModel.objects.create(provider=provider, name=name, **fields)
