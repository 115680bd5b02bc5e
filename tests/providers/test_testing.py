"""The fakes: deterministic, driven by plain rows, honest about the protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from providers.core.errors import CutOff, InputTooLong, ModelNotFound
from providers.core.types import (
    ChatMessage,
    ChatRequest,
    Grounding,
    GroundingPassage,
    ReasoningDelta,
    StreamPart,
    TextDelta,
    ToolCall,
    ToolSpec,
    Usage,
)
from providers.testing import FakeChat, HashEmbedder, OverlapReranker

PASSAGES = (
    GroundingPassage(1, "Pump", "The seal was worn. It was replaced."),
    GroundingPassage(2, "Valve", "The valve sticks."),
)


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    FakeChat.reset()
    yield
    FakeChat.reset()


def ask(model: str = "cite", *, grounding: Grounding | None = None) -> ChatRequest:
    return ChatRequest(model, (ChatMessage("user", "Why was the pump late?"),), grounding=grounding)


async def parts_of(chat: FakeChat, request: ChatRequest) -> list[StreamPart]:
    return [part async for part in chat.stream(request)]


def text_of(parts: list[StreamPart]) -> str:
    return "".join(part.text for part in parts if isinstance(part, TextDelta))


@pytest.mark.asyncio
async def test_cite_quotes_every_passage_with_its_number() -> None:
    parts = await parts_of(FakeChat(), ask(grounding=Grounding("Why?", PASSAGES)))
    assert text_of(parts) == "The seal was worn. [1]\n\nThe valve sticks. [2]\n\n"
    assert isinstance(parts[-1], Usage)
    assert parts[-1].output_tokens == 9


@pytest.mark.asyncio
async def test_a_script_calls_tools_round_by_round() -> None:
    spec = ToolSpec("search_notes", "", {})
    script = 'say:Wait.|tool:search_notes:seal&read:{"n": 1}|tool:search_notes:|cite'
    asked = replace(ask(script, grounding=Grounding("Why?", PASSAGES)), tools=(spec,))
    calls = (
        ToolCall("call_1", "search_notes", '{"query": "seal"}'),
        ToolCall("call_2", "read", '{"n": 1}'),
    )
    parts = await parts_of(FakeChat(), asked)
    assert parts[:3] == [TextDelta("Wait."), *calls]
    assert isinstance(parts[-1], Usage)
    assert parts[-1].stop_reason == "tool"
    for _ in range(2):
        said = ChatMessage("assistant", "", calls=calls)
        asked = replace(asked, messages=(*asked.messages, said))
        parts = await parts_of(FakeChat(), asked)
    assert text_of(parts) == "The seal was worn. [1]\n\nThe valve sticks. [2]\n\n"


@pytest.mark.asyncio
async def test_without_tools_a_script_passes_over_its_calls() -> None:
    script = "say:Wait.|tool:search_notes:seal|say: Done."
    assert text_of(await parts_of(FakeChat(), ask(script))) == "Wait. Done."


@pytest.mark.asyncio
async def test_cite_without_passages_repeats_the_question() -> None:
    assert text_of(await parts_of(FakeChat(), ask())) == "Why was the pump late?"


@pytest.mark.asyncio
async def test_a_model_name_is_a_script() -> None:
    parts = await parts_of(
        FakeChat(), ask("think:hm|say:one  two|again:2:on|words:2|pause:0|stop:length")
    )
    assert parts[0] == ReasoningDelta("hm")
    assert text_of(parts) == "one  twoon on word1 word2 "
    assert parts[-1] == Usage(5, 6, "length")


@pytest.mark.asyncio
async def test_a_script_may_fail_after_some_text() -> None:
    stream = FakeChat().stream(ask("say:half|fail:cut_off"))
    assert await anext(stream) == TextDelta("half")
    with pytest.raises(CutOff):
        await anext(stream)


@pytest.mark.asyncio
@pytest.mark.parametrize("name", ["sing", "stop:never", "fail:unheard_of"])
async def test_an_unknown_step_is_a_clear_error(name: str) -> None:
    with pytest.raises(ModelNotFound, match="fake model knows no"):
        await parts_of(FakeChat(), ask(name))


@pytest.mark.asyncio
async def test_queued_scripts_come_first_and_may_wait_for_an_event() -> None:
    gate = asyncio.Event()
    FakeChat.play(TextDelta("a"), gate, TextDelta("b"), Usage())
    stream = FakeChat(script=[TextDelta("own"), Usage()]).stream(ask())
    assert await anext(stream) == TextDelta("a")
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    assert not waiting.done()
    gate.set()
    assert await waiting == TextDelta("b")
    assert text_of(await parts_of(FakeChat(script=[TextDelta("own"), Usage()]), ask())) == "own"
    assert len(FakeChat.requests) == 2


@pytest.mark.asyncio
async def test_texts_with_equal_words_are_near_and_others_far() -> None:
    embedder = HashEmbedder(dimensions=256)
    near, same, far = await embedder.embed_passages(
        ["the worn pump seal", "THE PUMP SEAL", "quarterly tax report"]
    )
    assert near @ same > 0.8 > near @ far
    assert embedder.embedded == 3


@pytest.mark.asyncio
async def test_vectors_are_unit_and_equal_in_every_process() -> None:
    vectors = await HashEmbedder(dimensions=8).embed_queries(["", "a\0 \ud800", "東京都庁"])
    assert vectors.shape == (3, 8)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    again = await HashEmbedder(dimensions=8).embed_queries(["東京都庁"])
    assert np.array_equal(vectors[2], again[0])


@pytest.mark.asyncio
async def test_a_passage_over_the_limit_is_refused() -> None:
    with pytest.raises(InputTooLong):
        await HashEmbedder(max_tokens=3).embed_passages(["one two three four"])


@pytest.mark.asyncio
async def test_the_reranker_prefers_texts_with_the_words_of_the_query() -> None:
    ranked = await OverlapReranker().rerank("pump seal", ["tax", "the pump seal", "pump"], top_n=2)
    assert [item.index for item in ranked] == [1, 2]
