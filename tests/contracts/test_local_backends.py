"""The backends that call nobody keep the same promises as those that do."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from providers.backends.extractive import Extractive
from providers.backends.local_e5 import LocalE5
from providers.core.errors import BadRequest
from providers.core.protocols import ChatProvider, Embedder, Reranker
from providers.core.types import (
    ChatMessage,
    ChatRequest,
    EmbeddingSpec,
    Endpoint,
    Grounding,
    GroundingPassage,
    RerankSpec,
    TextDelta,
    Usage,
)
from providers.testing import FakeChat, HashEmbedder, OverlapReranker

pytestmark = pytest.mark.asyncio
QUESTION = "Why did the pump repair take so long?"
PASSAGES = (
    GroundingPassage(1, "Lunch", "The canteen closes at three."),
    GroundingPassage(2, "Pump", "The pump repair took long because the seal was worn."),
)
CHATS = (Extractive(Endpoint("extractive")), FakeChat(Endpoint("fake")))
EMBEDDERS = (
    LocalE5(Endpoint("local_e5"), EmbeddingSpec("e5", 384)),
    HashEmbedder(Endpoint("fake"), EmbeddingSpec("hash", 32)),
)


def request(*, grounding: Grounding | None) -> ChatRequest:
    return ChatRequest("cite", (ChatMessage("user", QUESTION),), grounding=grounding)


@pytest.mark.parametrize("chat", CHATS, ids=lambda chat: type(chat).__name__)
async def test_an_answer_comes_in_pieces_cites_and_ends_with_its_usage(chat: ChatProvider) -> None:
    stream = chat.stream(request(grounding=Grounding(QUESTION, PASSAGES)))
    parts = [part async for part in stream]
    texts = [part.text for part in parts if isinstance(part, TextDelta)]
    assert len(texts) > 1
    assert "the seal was worn. [2]" in "".join(texts)
    assert isinstance(parts[-1], Usage)
    assert parts[-1].stop_reason == "end"
    assert sum(isinstance(part, Usage) for part in parts) == 1


@pytest.mark.parametrize("chat", CHATS, ids=lambda chat: type(chat).__name__)
async def test_a_stream_may_be_left_in_the_middle(chat: ChatProvider) -> None:
    stream = chat.stream(request(grounding=Grounding(QUESTION, PASSAGES)))
    assert isinstance(await anext(stream), TextDelta)
    await stream.aclose()  # type: ignore[attr-defined]
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_without_notes_and_without_a_model_there_is_nothing_to_write() -> None:
    with pytest.raises(BadRequest, match="nothing to write") as raised:
        await anext(CHATS[0].stream(request(grounding=None)))
    assert raised.value.mend == "Choose a mode with notes, or another model."


async def test_quotes_are_compared_by_meaning_where_search_has_loaded_the_model() -> None:
    asked = "Where is the spare key?"
    passages = (
        GroundingPassage(1, "Kasten", "Die Kantine ist zu. Der Ersatzschlüssel liegt im Kasten."),
    )
    await EMBEDDERS[0].embed_queries(["loads the model"])
    parts = [part async for part in CHATS[0].stream(request(grounding=Grounding(asked, passages)))]
    said = "".join(part.text for part in parts if isinstance(part, TextDelta))
    assert "Der Ersatzschlüssel liegt im Kasten." in said


async def test_quotes_let_others_run_between_two_pieces() -> None:
    stream = CHATS[0].stream(request(grounding=Grounding(QUESTION, PASSAGES)))
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counter = asyncio.create_task(count())
    pieces = [part async for part in stream if isinstance(part, TextDelta)]
    counter.cancel()
    assert turns >= len(pieces)


@pytest.mark.parametrize("embedder", EMBEDDERS, ids=lambda embedder: type(embedder).__name__)
async def test_vectors_have_the_shape_and_norm_that_was_promised(embedder: Embedder) -> None:
    texts = ["a worn seal", "", "a\0b \ud800", "水泵的密封件"]
    for embed in (embedder.embed_queries, embedder.embed_passages):
        vectors = await embed(texts)
        assert vectors.dtype == np.float32
        assert vectors.shape == (4, embedder.dimensions)
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
        assert (await embed([])).shape == (0, embedder.dimensions)
    assert embedder.count_tokens("a worn seal") >= 3


async def test_the_fake_reranker_keeps_the_protocol() -> None:
    reranker: Reranker = OverlapReranker(Endpoint("fake"), RerankSpec("overlap"))
    ranked = await reranker.rerank("pump seal", [passage.text for passage in PASSAGES], top_n=1)
    assert [item.index for item in ranked] == [1]
