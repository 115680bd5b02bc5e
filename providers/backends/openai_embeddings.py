"""Embeddings in OpenAI's form: OpenAI, Together, vLLM, llama.cpp, text-embeddings-inference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import openai

from providers.backends.openai_chat import openai_client
from providers.backends.retries import with_retries
from providers.backends.translation import translated
from providers.core.errors import ProtocolError
from providers.core.protocols import Vectors
from providers.core.text import clean
from providers.core.tokens import estimate_tokens
from providers.core.types import EmbeddingSpec, Endpoint
from providers.core.vectors import checked, in_order
from providers.egress import guarded_client


class OpenAIEmbedder:
    """Embeds through the official SDK; texts go out with the prefixes of the model's row."""

    def __init__(self, endpoint: Endpoint, spec: EmbeddingSpec) -> None:
        self.endpoint = endpoint
        self.spec = spec
        self.dimensions = spec.dimensions
        self.max_tokens = spec.max_tokens

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts, prefix=self.spec.query_prefix)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return await self._embed(texts, prefix=self.spec.passage_prefix)

    async def _embed(self, texts: Sequence[str], *, prefix: str) -> Vectors:
        inputs = [sendable(text, prefix=prefix) for text in texts]
        rows: Sequence[Sequence[float]] = []
        if inputs:
            rows = await with_retries(lambda: self._call(inputs), limits=self.endpoint.limits)
        return checked(rows, count=len(inputs), dimensions=self.dimensions)

    async def _call(self, inputs: list[str]) -> list[Sequence[float]]:
        with translated(self.endpoint, openai.OpenAIError):
            async with guarded_client(self.endpoint) as http:
                client = openai_client(self.endpoint, http)
                # Plain numbers: not every server knows base64, the SDK's default.
                reply = await client.embeddings.create(
                    model=self.spec.model, input=inputs, encoding_format="float"
                )
                return in_order(_pairs(reply), count=len(inputs))
        raise AssertionError("translated() returns or raises")  # pragma: no cover


def sendable(text: str, *, prefix: str) -> str:
    """The text as it goes out: clean, with its prefix, never empty (servers refuse that)."""
    return prefix + (clean(text).strip() or "-")


def _pairs(reply: Any) -> list[tuple[int, Sequence[float]]]:
    data = getattr(reply, "data", None)
    if not isinstance(data, list):
        raise ProtocolError("The reply has no list of vectors under 'data'.")
    pairs: list[tuple[int, Sequence[float]]] = []
    for place, item in enumerate(data):
        vector = getattr(item, "embedding", None)
        index = getattr(item, "index", None)
        if not isinstance(vector, list):
            raise ProtocolError(f"Vector {place} of the reply is not a list of numbers.")
        pairs.append((index if isinstance(index, int) else place, vector))
    return pairs
