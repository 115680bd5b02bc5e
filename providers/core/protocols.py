"""The three things a provider can be."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from providers.core.types import ChatRequest, RankedText, StreamPart

Vectors = NDArray[np.float32]


class ChatProvider(Protocol):
    """Writes answers."""

    def stream(self, request: ChatRequest) -> AsyncIterator[StreamPart]:
        """Yield the answer in pieces; the last part is a Usage with its stop reason.

        A stream that ends without a stop reason raises: success is never assumed.
        Raises ProviderError. Closing the iterator ends the call at the provider.
        """
        ...


class Embedder(Protocol):
    """Turns text into vectors. Prefixes are applied inside."""

    dimensions: int
    max_tokens: int

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` without a prefix: exact where the tokenizer is at hand, else
        an estimate on the safe side."""
        ...

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """float32 (n, dimensions), unit norm. Raises ProviderError."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """float32 (n, dimensions), unit norm. Raises ProviderError, InputTooLong."""
        ...


class Reranker(Protocol):
    """Orders texts by how well they answer a query."""

    async def rerank(self, query: str, texts: Sequence[str], *, top_n: int) -> list[RankedText]:
        """At most `top_n`, best first. Raises ProviderError."""
        ...
