"""What every embedder promises: the vectors asked for, in order, with unit norm, or an error."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from providers.backends.ollama import OllamaEmbedder
from providers.backends.openai_embeddings import OpenAIEmbedder
from providers.core.errors import (
    InputTooLong,
    ModelNotFound,
    Overloaded,
    ProtocolError,
    ProviderError,
    Unauthorized,
)
from providers.core.protocols import Embedder
from providers.core.types import EmbeddingSpec, Endpoint
from tests.contracts.server import ModelServer, Reply, json_reply, serving
from tests.contracts.wires import KEY, PATIENT

Rows = Sequence[Sequence[float | None]]


@dataclass(frozen=True)
class Form:
    """How one kind of server spells its vectors."""

    name: str
    backend: Callable[[Endpoint, EmbeddingSpec], Embedder]
    version: str
    reply: Callable[[Rows], Any]

    def embedder(self, server: ModelServer) -> Embedder:
        endpoint = Endpoint(
            self.name, f"{server.url}{self.version}", KEY, limits=PATIENT, is_trusted=True
        )
        spec = EmbeddingSpec("vec", 2, query_prefix="Query: ", passage_prefix="Passage: ")
        return self.backend(endpoint, spec)


OPENAI = Form(
    "openai",
    OpenAIEmbedder,
    "/v1",
    lambda rows: {
        "object": "list",
        "data": [{"index": index, "embedding": row} for index, row in enumerate(rows)],
    },
)
OLLAMA = Form("ollama", OllamaEmbedder, "", lambda rows: {"embeddings": rows})

pytestmark = pytest.mark.asyncio
forms = pytest.mark.parametrize("form", [OPENAI, OLLAMA], ids=lambda form: form.name)


@forms
async def test_vectors_come_back_in_order_with_unit_norm(form: Form) -> None:
    async with serving(json_reply(form.reply([[3.0, 4.0], [0.0, 2.0]]))) as server:
        vectors = await form.embedder(server).embed_passages(["a", "b"])
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, [[0.6, 0.8], [0.0, 1.0]])


@forms
async def test_prefixes_differ_and_texts_are_clean_and_never_empty(form: Form) -> None:
    async with serving(json_reply(form.reply([[1.0, 0.0]] * 3))) as server:
        embedder = form.embedder(server)
        await embedder.embed_queries(["why?", "a\0b \ud800", "  "])
        await embedder.embed_passages(["x", "y", "z"])
    queries, passages = (received.body["input"] for received in server.received)
    assert queries == ["Query: why?", "Query: ab \ufffd", "Query: -"]
    assert passages == ["Passage: x", "Passage: y", "Passage: z"]


@forms
async def test_no_texts_need_no_call(form: Form) -> None:
    async with serving(Reply([], 500)) as server:
        assert (await form.embedder(server).embed_passages([])).shape == (0, 2)
    assert server.received == []


@forms
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, 0.0]], r"vectors (that )?c"),
        ([[1.0, 0.0]] * 3, r"vectors (that )?c"),
        ([[1.0, 0.0, 0.0]] * 2, "3 dimensions; its settings here say 2"),
        ([[1.0, 0.0], [0.0, 0.0]], "vector of zeros"),
        ([[1.0, 0.0], [1.0, None]], "no numbers|not finite"),
    ],
)
async def test_wrong_vectors_are_refused(form: Form, rows: Rows, message: str) -> None:
    async with serving(json_reply(form.reply(rows))) as server:
        with pytest.raises(ProtocolError, match=message):
            await form.embedder(server).embed_passages(["a", "b"])


@forms
@pytest.mark.parametrize("document", [{}, {"data": None}, {"embeddings": 5}, [], "x", None])
async def test_a_reply_of_another_form_is_refused(form: Form, document: Any) -> None:
    async with serving(json_reply(document)) as server:
        with pytest.raises(ProtocolError):
            await form.embedder(server).embed_passages(["a"])


@forms
@pytest.mark.parametrize(
    ("status", "said", "error"),
    [
        (400, "the input length exceeds the context length", InputTooLong),
        (400, "This model's maximum context length is 512 tokens", InputTooLong),
        (413, "", InputTooLong),
        (401, f"bad key {KEY}", Unauthorized),
        (404, "model 'vec' not found, try pulling it first", ModelNotFound),
    ],
)
async def test_refusals_are_told_at_once(
    form: Form, status: int, said: str, error: type[ProviderError]
) -> None:
    async with serving(json_reply({"error": {"message": said}}, status=status)) as server:
        with pytest.raises(error) as caught:
            await form.embedder(server).embed_passages(["a", "b"])
    assert len(server.received) == 1
    assert KEY not in "".join(traceback.format_exception(caught.value))


@forms
async def test_trouble_is_tried_three_times(form: Form) -> None:
    trouble = Reply([], 503, {})
    good = json_reply(form.reply([[1.0, 0.0]]))
    async with serving(trouble, trouble, good) as server:
        assert (await form.embedder(server).embed_queries(["a"])).shape == (1, 2)
    async with serving(trouble) as server:
        with pytest.raises(Overloaded):
            await form.embedder(server).embed_queries(["a"])
    assert len(server.received) == 3


@forms
async def test_a_page_instead_of_vectors_is_refused(form: Form) -> None:
    page = Reply([b"<html>sign in</html>"], 200, {"content-type": "text/html"})
    async with serving(page) as server:
        with pytest.raises(ProtocolError):
            await form.embedder(server).embed_queries(["a"])


@forms
async def test_tokens_are_estimated_without_a_call(form: Form) -> None:
    async with serving(Reply([], 500)) as server:
        assert form.embedder(server).count_tokens("three short words") > 3
    assert server.received == []


async def test_a_permuted_reply_is_put_in_order() -> None:
    data = [{"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.0]}]
    async with serving(json_reply({"data": data})) as server:
        vectors = await OPENAI.embedder(server).embed_passages(["a", "b"])
    assert np.allclose(vectors, [[1.0, 0.0], [0.0, 1.0]])


async def test_a_doubled_place_is_refused() -> None:
    data = [{"index": 0, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.0]}]
    async with serving(json_reply({"data": data})) as server:
        with pytest.raises(ProtocolError, match="are numbered"):
            await OPENAI.embedder(server).embed_passages(["a", "b"])


async def test_ollama_is_told_not_to_cut_texts() -> None:
    async with serving(json_reply(OLLAMA.reply([[1.0, 0.0]]))) as server:
        await OLLAMA.embedder(server).embed_passages(["a"])
    assert server.received[0].path == "/api/embed"
    assert server.received[0].body["truncate"] is False


async def test_an_older_ollama_gets_one_text_after_the_other() -> None:
    unknown = json_reply({"error": "404 page not found"}, status=404)
    singles = [json_reply({"embedding": row}) for row in ([1.0, 0.0], [0.0, 2.0])]
    async with serving(unknown, *singles) as server:
        vectors = await OLLAMA.embedder(server).embed_passages(["a", "b"])
    assert np.allclose(vectors, [[1.0, 0.0], [0.0, 1.0]])
    assert [received.path for received in server.received] == [
        "/api/embed",
        "/api/embeddings",
        "/api/embeddings",
    ]
    assert [received.body["prompt"] for received in server.received[1:]] == [
        "Passage: a",
        "Passage: b",
    ]
