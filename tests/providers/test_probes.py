"""Testing a provider is a real call, and its failure says exactly what happened."""

from __future__ import annotations

import logging

import pytest
from auditlog.models import LogEntry

from providers.models import Provider
from providers.probes import ProbeResult, probe_provider
from tests.contracts.server import ModelServer, Reply, json_reply, serving_in_a_thread
from tests.contracts.wires import ANTHROPIC, KEY, OLLAMA, OPENAI, Wire
from tests.providers.rows import (
    make_chat_model,
    make_embedding_model,
    make_provider,
    make_rerank_model,
)

pytestmark = pytest.mark.django_db


def provider_at(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, *, kind: str = "openai"
) -> Provider:
    """A provider whose address comes from the environment, as a local server's does."""
    monkeypatch.setenv("ACME_URL", server.url)
    return make_provider(kind=kind, key=KEY, base_url="", base_url_variable="ACME_URL")


def only(results: list[ProbeResult]) -> ProbeResult:
    (result,) = results
    return result


@pytest.mark.parametrize("wire", [OPENAI, ANTHROPIC, OLLAMA], ids=str)
def test_a_chat_model_that_answers(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving_in_a_thread(wire.good("re", "ady")) as server:
        provider = provider_at(server, monkeypatch, kind=wire.name)
        make_chat_model(provider)
        result = only(probe_provider(provider))
    assert result.succeeded
    assert (result.subject, result.said, result.mend) == ("Acme, big", "answered “ready”", "")
    assert len(server.received) == 1


def test_a_model_that_only_thinks_within_so_few_tokens_is_fine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reply = OPENAI.reply(OPENAI.begin, OPENAI.reasoning("hm"), OPENAI.stop("length"), OPENAI.end)
    with serving_in_a_thread(reply) as server:
        provider = provider_at(server, monkeypatch)
        make_chat_model(provider)
        result = only(probe_provider(provider))
    assert result.succeeded
    assert "reasoning only" in result.said


def test_an_embedding_model_with_other_dimensions(monkeypatch: pytest.MonkeyPatch) -> None:
    reply = json_reply({"data": [{"index": 0, "embedding": [1.0, 0.0]}]})
    with serving_in_a_thread(reply) as server:
        provider = provider_at(server, monkeypatch)
        make_embedding_model(provider, dimensions=3)
        make_embedding_model(provider, "good", dimensions=2, is_default=True)
        assert only(probe_provider(provider)).said == "returned a vector of 2 dimensions"
        provider.embeddingmodel_set.filter(name="good").update(enabled=False)
        result = only(probe_provider(provider))
    assert not result.succeeded
    assert "vectors of 2 dimensions; its settings here say 3" in result.said


def test_a_reranker(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"index": index, "relevance_score": 0.5} for index in (0, 1)]
    with serving_in_a_thread(json_reply({"results": rows})) as server:
        provider = provider_at(server, monkeypatch)
        make_rerank_model(provider)
        assert only(probe_provider(provider)).said == "ranked 2 texts"


@pytest.mark.parametrize(
    ("reply", "said", "mend"),
    [
        (
            json_reply({"error": {"message": f"Incorrect API key provided: {KEY}"}}, status=401),
            "answered 401: the key was refused. It said: Incorrect API key provided: [key removed]",
            "enter a valid one",
        ),
        (
            json_reply({"error": "404 page not found"}, status=404),
            "/v1/chat/completions answered 404: nothing is there",
            "correct the provider's base URL",
        ),
        (
            json_reply({"error": {"message": "The model `big` does not exist"}}, status=404),
            "The model `big` does not exist",
            "choose another, or correct its name",
        ),
        (
            Reply([b"<html>Sign in</html>"], 200, {"content-type": "text/html"}),
            "answered with text/html instead of text/event-stream",
            "check the base URL",
        ),
        (
            Reply([], 302, {"location": "https://elsewhere.example.com"}),
            "a redirect. It was not followed",
            "check the base URL",
        ),
        (
            Reply([f"event: x\ndata: {KEY}\n\n".encode()]),
            "not what a model server sends",
            "check the base URL",
        ),
    ],
)
def test_the_failure_is_exact_and_has_no_key(
    reply: Reply,
    said: str,
    mend: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    with serving_in_a_thread(reply) as server:
        provider = provider_at(server, monkeypatch)
        make_chat_model(provider)
        result = only(probe_provider(provider))
    assert not result.succeeded
    assert said in result.said
    assert mend in result.mend
    assert KEY not in f"{result} {caplog.text}"
    assert KEY not in str(list(LogEntry.objects.values_list("changes", flat=True)))


def test_a_provider_that_cannot_be_called_is_not_called() -> None:
    result = only(probe_provider(make_provider(enabled=False)))
    assert (result.succeeded, result.said) == (False, "it is switched off")
