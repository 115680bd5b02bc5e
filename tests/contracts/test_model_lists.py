"""Each kind of server is asked for its models in its own way, and its faults are named."""

from __future__ import annotations

import pytest

from providers.backends.model_lists import list_models
from providers.core.errors import (
    NotConfigured,
    Overloaded,
    ProtocolError,
    ProviderError,
    Unauthorized,
    WrongAddress,
)
from providers.core.types import Endpoint
from tests.contracts.server import ModelServer, Reply, json_reply, serving
from tests.contracts.wires import KEY, PATIENT

pytestmark = pytest.mark.asyncio
LIST = json_reply({"data": [{"id": "big"}, {"id": "small"}]})


def endpoint(server: ModelServer, kind: str, *, version: str = "") -> Endpoint:
    return Endpoint(
        kind=kind, base_url=f"{server.url}{version}", key=KEY, limits=PATIENT, is_trusted=True
    )


@pytest.mark.parametrize(
    ("kind", "version", "path", "header", "value"),
    [
        ("openai", "/v1", "/v1/models", "authorization", f"Bearer {KEY}"),
        ("anthropic", "", "/v1/models?limit=1000", "x-api-key", KEY),
        ("ollama", "", "/api/tags", "authorization", f"Bearer {KEY}"),
    ],
)
async def test_each_kind_is_asked_at_its_own_address(
    kind: str, version: str, path: str, header: str, value: str
) -> None:
    async with serving(LIST) as server:
        models = await list_models(endpoint(server, kind, version=version))
    assert [model.name for model in models] == ["big", "small"]
    (request,) = server.received
    assert (request.method, request.path, request.headers[header]) == ("GET", path, value)


async def test_anthropic_is_told_the_version_of_its_api() -> None:
    async with serving(LIST) as server:
        await list_models(endpoint(server, "anthropic"))
    assert server.received[0].headers["anthropic-version"] == "2023-06-01"


async def test_what_is_behind_ollamas_url_may_speak_like_openai() -> None:
    async with serving(Reply([b"404 page not found"], 404), LIST) as server:
        models = await list_models(endpoint(server, "ollama"))
    assert [request.path for request in server.received] == ["/api/tags", "/v1/models"]
    assert len(models) == 2


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (json_reply({"error": {"message": "no"}}, status=401), Unauthorized),
        (json_reply({"error": "not here"}, status=404), WrongAddress),
        (json_reply({"error": "down"}, status=503), Overloaded),
        (Reply([b"<html>Log in</html>"], headers={"content-type": "text/html"}), ProtocolError),
        (Reply([b"{"], headers={"content-type": "application/json"}), ProtocolError),
        (json_reply({"hello": "world"}), ProtocolError),
    ],
)
async def test_a_fault_is_named_and_holds_no_key(reply: Reply, error: type[ProviderError]) -> None:
    async with serving(reply) as server:
        with pytest.raises(error) as raised:
            await list_models(endpoint(server, "openai", version="/v1"))
    assert KEY not in str(raised.value)


async def test_a_kind_without_a_list_says_so() -> None:
    async with serving(LIST) as server:
        with pytest.raises(NotConfigured, match="kind 'rerank' has no list of models"):
            await list_models(endpoint(server, "rerank"))
    assert not server.received
