"""One embedding model on several servers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from asgiref.sync import async_to_sync

from providers import registry
from providers.core.errors import (
    Overloaded,
    ProviderError,
    Silent,
    Unauthorized,
    Unreachable,
)
from providers.core.protocols import Vectors
from providers.core.types import EmbeddingSpec
from providers.failover import SKIPPED_SECONDS, DownHosts, FailoverEmbedder
from providers.forms import ProviderForm
from providers.models import Provider
from providers.testing import HashEmbedder
from tests.contracts.server import json_reply, serving_in_a_thread
from tests.live import free_port
from tests.providers.rows import make_embedding_model, make_provider


class Server(HashEmbedder):
    """Fails with `error` while it has one, and counts its calls."""

    def __init__(self, error: ProviderError | None = None) -> None:
        super().__init__(None, EmbeddingSpec("hash", 8))
        self.error = error
        self.calls = 0

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if self.error:
            raise self.error
        return await super().embed_queries(texts)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.asyncio
@pytest.mark.parametrize("error", [Unreachable("x"), Silent("x"), Overloaded("x")])
async def test_the_next_server_takes_over_and_the_first_is_skipped_for_a_while(
    error: ProviderError,
) -> None:
    clock, first, second = Clock(), Server(error), Server()
    embedder = FailoverEmbedder([("a", first), ("b", second)], hosts=DownHosts(clock))
    assert (await embedder.embed_queries(["x"])).shape == (1, 8)
    await embedder.embed_queries(["x"])
    assert (first.calls, second.calls) == (1, 2)
    first.error = None
    clock.now += SKIPPED_SECONDS
    await embedder.embed_queries(["x"])
    assert (first.calls, second.calls) == (2, 2)


@pytest.mark.asyncio
async def test_when_all_are_down_each_is_asked_and_the_failure_told() -> None:
    servers = [Server(Unreachable("one")), Server(Silent("two"))]
    embedder = FailoverEmbedder([("a", servers[0]), ("b", servers[1])], hosts=DownHosts(Clock()))
    for _again in range(2):
        with pytest.raises(Silent, match="two"):
            await embedder.embed_queries(["x"])
    assert [server.calls for server in servers] == [2, 2]


@pytest.mark.asyncio
async def test_a_refusal_is_an_answer_and_asks_no_other_server() -> None:
    second = Server()
    embedder = FailoverEmbedder([("a", Server(Unauthorized("x"))), ("b", second)])
    with pytest.raises(Unauthorized):
        await embedder.embed_queries(["x"])
    assert second.calls == 0


@pytest.mark.django_db
def test_a_provider_with_several_base_urls_survives_one_that_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vector = {"data": [{"index": 0, "embedding": [1.0, 0.0, 0.0]}]}
    gone = f"http://127.0.0.1:{free_port()}/v1"
    with serving_in_a_thread(json_reply(vector)) as server:
        monkeypatch.setenv("ACME_URL", f"{gone}\n{server.url}/v1")
        provider = make_provider(key="sk-1", base_url="", base_url_variable="ACME_URL")
        embedder = registry.embedding_backend(make_embedding_model(provider, dimensions=3))
        assert async_to_sync(embedder.embed_passages)(["x"]).tolist() == [[1.0, 0.0, 0.0]]
    assert registry.base_url_of(provider) == (gone, True)


@pytest.mark.django_db
def test_each_line_of_the_base_urls_is_looked_at() -> None:
    urls = "https://a.example.com\nhttp://10.0.0.1/v1"
    fields = {"slug": "x", "name": "X", "kind": "openai", "position": 1, "base_url": urls}
    assert "10.0.0.1" in str(ProviderForm(fields).errors["base_url"])
    form = ProviderForm(
        {**fields, "base_url": "https://a.example.com\r\nhttps://b.example.com/v1/"}
    )
    assert form.is_valid(), form.errors
    assert form.cleaned_data["base_url"] == "https://a.example.com/v1\nhttps://b.example.com/v1"
    provider = make_provider(key="sk-1", base_url=urls)
    assert "10.0.0.1" in registry.availability(provider).reason


@pytest.mark.django_db
def test_a_further_server_takes_the_stored_key_away() -> None:
    provider = make_provider(key="sk-stored-1", base_url="https://a.example.com/v1")
    fields = {"slug": provider.slug, "name": "X", "kind": "openai", "position": 1}
    urls = "https://a.example.com/v1\nhttps://b.example.com/v1"
    form = ProviderForm({**fields, "base_url": urls}, instance=provider)
    assert form.is_valid(), form.errors
    assert form.save().key == ""
    assert form.lost_key
    assert Provider.objects.get(pk=provider.pk).key == ""
