"""Embeddings in OpenAI's form: OpenAI, Together, vLLM, llama.cpp, text-embeddings-inference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import openai

from providers.backends.openai_chat import openai_client
from providers.backends.remote_embedder import RemoteEmbedder
from providers.backends.retries import with_retries
from providers.backends.translation import translated
from providers.core.errors import ProtocolError
from providers.core.vectors import in_order
from providers.egress import guarded_client


class OpenAIEmbedder(RemoteEmbedder):
    """Embeds through the official SDK."""

    async def rows(self, inputs: list[str]) -> list[Sequence[float]]:
        return await with_retries(lambda: self._call(inputs), limits=self.endpoint.limits)

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
