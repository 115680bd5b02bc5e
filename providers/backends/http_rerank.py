"""Rerankers over HTTP: Cohere's form (Cohere, Jina, Together, llama.cpp) and the form of
text-embeddings-inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from providers.backends.http_json import field_of, post_json
from providers.backends.retries import with_retries
from providers.core.errors import ProtocolError
from providers.core.text import clean
from providers.core.types import Endpoint, RankedText, RerankSpec


class HTTPReranker:
    """Sends query and texts, checks the places and scores that come back."""

    def __init__(self, endpoint: Endpoint, spec: RerankSpec) -> None:
        # Cohere's form lives under a version, the other one at the root.
        root = endpoint.base_url.removesuffix("/v1")
        self.endpoint = replace(endpoint, base_url=root) if spec.shape == "tei" else endpoint
        self.spec = spec

    async def rerank(self, query: str, texts: Sequence[str], *, top_n: int) -> list[RankedText]:
        if not texts or top_n < 1:
            return []
        body = self._body(clean(query), [clean(text) or "-" for text in texts], top_n)
        reply = await with_retries(
            lambda: post_json(self.endpoint, "/rerank", body), limits=self.endpoint.limits
        )
        ranked = _ranked(self._results(reply), count=len(texts))
        return sorted(ranked, key=lambda item: (-item.score, item.index))[:top_n]

    def _body(self, query: str, texts: list[str], top_n: int) -> dict[str, Any]:
        if self.spec.shape == "tei":
            return {"query": query, "texts": texts, "truncate": True}
        return {"model": self.spec.model, "query": query, "documents": texts, "top_n": top_n}

    def _results(self, reply: Any) -> list[Any]:
        if self.spec.shape == "tei":
            if not isinstance(reply, list):
                raise ProtocolError("The reply is not a list of scores.")
            return reply
        results: list[Any] = field_of(reply, "results", list)
        return results


def _ranked(results: list[Any], *, count: int) -> list[RankedText]:
    ranked: dict[int, RankedText] = {}
    for item in results:
        index = field_of(item, "index", int)
        score = item.get("relevance_score", item.get("score"))
        if not 0 <= index < count or index in ranked:
            raise ProtocolError(f"The reply ranks text {index} of {count}, or ranks it twice.")
        if not isinstance(score, int | float) or score != score:
            raise ProtocolError(f"The reply gives text {index} no score.")
        ranked[index] = RankedText(index, float(score))
    return list(ranked.values())
