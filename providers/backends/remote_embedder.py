"""What embedders behind an address have in common, whatever form they speak."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from providers.core.protocols import Vectors
from providers.core.text import clean
from providers.core.tokens import estimate_tokens
from providers.core.types import EmbeddingSpec, Endpoint
from providers.core.vectors import checked


class RemoteEmbedder(ABC):
    """Sends texts with the prefixes of the model's row, and checks what comes back."""

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
        rows = await self.rows(inputs) if inputs else []
        return checked(rows, count=len(inputs), dimensions=self.dimensions)

    @abstractmethod
    async def rows(self, inputs: list[str]) -> Sequence[Sequence[float]]:
        """A vector for each of `inputs` (one at least), in order. Raises ProviderError."""


def sendable(text: str, *, prefix: str) -> str:
    """The text as it goes out: clean, with its prefix, never empty (servers refuse that)."""
    return prefix + (clean(text).strip() or "-")
