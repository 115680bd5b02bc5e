"""Rerankers in both wire forms: places and scores are checked before anybody trusts them."""

from __future__ import annotations

from typing import Any

import pytest

from providers.backends.http_rerank import HTTPReranker
from providers.core.errors import Overloaded, ProtocolError, Unauthorized
from providers.core.types import Endpoint, RankedText, RerankSpec
from tests.contracts.server import ModelServer, Reply, json_reply, serving
from tests.contracts.wires import KEY, PATIENT

pytestmark = pytest.mark.asyncio
shapes = pytest.mark.parametrize("shape", ["cohere", "tei"])
TEXTS = ["tax", "pump seal", "lunch"]


def reranker(server: ModelServer, shape: str) -> HTTPReranker:
    endpoint = Endpoint("openai", f"{server.url}/v1", KEY, limits=PATIENT, is_trusted=True)
    return HTTPReranker(endpoint, RerankSpec("rank", shape))


def reply_of(shape: str, *pairs: tuple[Any, Any]) -> Reply:
    name = "relevance_score" if shape == "cohere" else "score"
    rows = [{"index": index, name: score} for index, score in pairs]
    return json_reply({"results": rows} if shape == "cohere" else rows)


@shapes
async def test_the_best_come_first_and_no_more_than_asked(shape: str) -> None:
    async with serving(reply_of(shape, (0, 0.1), (2, 0.3), (1, 0.9))) as server:
        ranked = await reranker(server, shape).rerank("seal?", TEXTS, top_n=2)
    assert ranked == [RankedText(1, 0.9), RankedText(2, 0.3)]
    (received,) = server.received
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.path == {"cohere": "/v1/rerank", "tei": "/rerank"}[shape]
    assert received.body["query"] == "seal?"
    assert TEXTS in received.body.values()


@shapes
async def test_nothing_to_rank_needs_no_call(shape: str) -> None:
    async with serving(Reply([], 500)) as server:
        assert await reranker(server, shape).rerank("q", [], top_n=5) == []
        assert await reranker(server, shape).rerank("q", TEXTS, top_n=0) == []
    assert server.received == []


@shapes
@pytest.mark.parametrize(
    "pairs",
    [
        [(3, 0.5)],
        [(-1, 0.5)],
        [(0, 0.5), (0, 0.4)],
        [("0", 0.5)],
        [(0, None)],
        [(0, "high")],
        [(0, float("nan"))],
    ],
)
async def test_impossible_places_and_scores_are_refused(
    shape: str, pairs: list[tuple[Any, Any]]
) -> None:
    async with serving(reply_of(shape, *pairs)) as server:
        with pytest.raises(ProtocolError):
            await reranker(server, shape).rerank("q", TEXTS, top_n=3)


@shapes
@pytest.mark.parametrize("document", [{}, 5, "x", {"results": {}}, {"results": [1]}, [1], None])
async def test_another_form_is_refused(shape: str, document: Any) -> None:
    async with serving(json_reply(document)) as server:
        with pytest.raises(ProtocolError):
            await reranker(server, shape).rerank("q", TEXTS, top_n=3)


@shapes
async def test_refusals_and_trouble(shape: str) -> None:
    async with serving(json_reply({"message": f"bad key {KEY}"}, status=401)) as server:
        with pytest.raises(Unauthorized) as caught:
            await reranker(server, shape).rerank("q", TEXTS, top_n=3)
        assert KEY not in str(caught.value)
    async with serving(Reply([], 500, {})) as server:
        with pytest.raises(Overloaded):
            await reranker(server, shape).rerank("q", TEXTS, top_n=3)
    assert len(server.received) == 3
