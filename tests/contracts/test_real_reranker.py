"""The form of Cohere's rerank, spoken with a real server that scores texts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from providers.backends.http_rerank import HTTPReranker
from providers.core.types import Endpoint, RerankSpec, TimeLimits
from tests.contracts.processes import python_server

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]
TEXTS = ["The seal of the pump was worn.", "", "Ремонт насоса перенесено.", "水泵的密封件"]


@pytest.fixture(scope="module")
def reranker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HTTPReranker]:
    log = tmp_path_factory.mktemp("reranker") / "server.log"
    limits = TimeLimits(connect=5, first_content=60, between_content=60)
    with python_server("tests.contracts.real_server", "{port}", "rerank", log=log) as port:
        url = f"http://127.0.0.1:{port}/v1"
        yield HTTPReranker(
            Endpoint("http_rerank", url, limits=limits, is_trusted=True), RerankSpec("smollm2")
        )


async def test_every_text_gets_its_place_once(reranker: HTTPReranker) -> None:
    ranked = await reranker.rerank("Why did the pump fail?", TEXTS, top_n=4)
    assert sorted(item.index for item in ranked) == [0, 1, 2, 3]
    scores = [item.score for item in ranked]
    assert scores == sorted(scores, reverse=True)


async def test_only_the_best_are_given_and_the_same_each_time(reranker: HTTPReranker) -> None:
    first = await reranker.rerank("Why?", TEXTS, top_n=2)
    assert len(first) == 2
    again = await reranker.rerank("Why?", TEXTS, top_n=2)
    assert [item.index for item in again] == [item.index for item in first]
