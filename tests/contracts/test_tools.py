"""What every chat backend promises about tools, over a real connection."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from providers.core.errors import CutOff, NoTools
from providers.core.types import (
    ChatMessage,
    ChatRequest,
    StreamPart,
    TextDelta,
    ToolCall,
    ToolSpec,
    Usage,
)
from tests.contracts.server import ModelServer, Step, json_reply, serving
from tests.contracts.wires import WIRES, Wire

pytestmark = [pytest.mark.asyncio, pytest.mark.parametrize("wire", WIRES, ids=str)]

SEARCH = ToolSpec(
    "search_notes",
    "Searches the notes.",
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
REQUEST = ChatRequest("fake-model", (ChatMessage("user", "Why?"),), tools=(SEARCH,))
PIECES = ('{"que', 'ry": "the s', 'eal"}')


async def collect(wire: Wire, server: ModelServer, request: ChatRequest) -> list[StreamPart]:
    return [part async for part in wire.chat(server).stream(request)]


async def hear(
    wire: Wire, *steps: Step, stop: str | None = None, request: ChatRequest = REQUEST
) -> list[StreamPart]:
    end = wire.stop(wire.called if stop is None else stop)
    async with serving(wire.reply(wire.begin, *steps, end, wire.end)) as server:
        return await collect(wire, server, request)


async def test_tools_are_offered_and_left_out_when_there_are_none(wire: Wire) -> None:
    async with serving(wire.good("ok")) as server:
        await collect(wire, server, REQUEST)
        await collect(wire, server, replace(REQUEST, tools=()))
    offered, plain = (received.body for received in server.received)
    said = json.dumps(offered["tools"])
    assert all(word in said for word in ("search_notes", "Searches the notes.", "required"))
    assert "tools" not in plain
    assert "tool_choice" not in plain


async def test_what_may_not_be_called_any_more_is_told(wire: Wire) -> None:
    async with serving(wire.good("ok")) as server:
        await collect(wire, server, replace(REQUEST, tool_choice="none"))
    body = server.received[0].body
    if wire.name == "ollama":
        assert "tools" not in body
    else:
        assert body["tools"]
        assert body["tool_choice"] in ("none", {"type": "none"})


async def test_a_call_in_pieces_arrives_whole_before_the_usage(wire: Wire) -> None:
    parts = await hear(wire, wire.text("I look."), wire.call(0, "c1", "search_notes", PIECES))
    assert parts[-2:] == [
        ToolCall("c1", "search_notes", '{"query": "the seal"}'),
        Usage(11, 3, "tool"),
    ]
    assert TextDelta("I look.") in parts


async def test_calls_at_once_are_kept_apart(wire: Wire) -> None:
    calls = wire.call(0, "c1", "search_notes", PIECES) + wire.call(1, "c2", "other", ('{"n": 1}',))
    parts = await hear(wire, calls)
    assert parts[:-1] == [
        ToolCall("c1", "search_notes", '{"query": "the seal"}'),
        ToolCall("c2", "other", '{"n": 1}'),
    ]


async def test_broken_arguments_are_passed_on_as_they_are(wire: Wire) -> None:
    parts = await hear(wire, wire.call(0, "c1", "search_notes", ('{"query": "the',)))
    assert parts[0] == ToolCall("c1", "search_notes", '{"query": "the')


async def test_a_call_without_an_id_gets_one(wire: Wire) -> None:
    parts = await hear(wire, wire.call(0, "", "search_notes", PIECES))
    assert parts[0] == ToolCall("call_1", "search_notes", '{"query": "the seal"}')


async def test_a_call_that_is_cut_at_the_length_limit_is_none(wire: Wire) -> None:
    parts = await hear(wire, wire.call(0, "c1", "search_notes", PIECES[:1]), stop=wire.length)
    assert parts == [Usage(11, 3, "length")]


async def test_a_cut_in_the_middle_of_a_call_is_a_cut(wire: Wire) -> None:
    call = wire.call(0, "c1", "search_notes", PIECES)
    async with serving(wire.reply(wire.begin, call)) as server:
        with pytest.raises(CutOff):
            await collect(wire, server, REQUEST)
    assert len(server.received) == 1


async def test_calls_and_results_are_said_back(wire: Wire) -> None:
    good = ToolCall("c1", "search_notes", '{"query": "the seal"}')
    broken = ToolCall("c2", "search_notes", '{"query')
    messages = (
        *REQUEST.messages,
        ChatMessage("assistant", "I look.", calls=(good, broken)),
        ChatMessage("tool", "It was worn.", answers=good),
        ChatMessage("tool", "That is no JSON.", answers=broken, is_failure=True),
    )
    async with serving(wire.good("ok")) as server:
        await collect(wire, server, replace(REQUEST, messages=messages))
    turns = server.received[0].body["messages"]
    said = json.dumps(turns)
    assert all(text in said for text in ("I look.", "It was worn.", "That is no JSON.", "the seal"))
    if wire.name == "anthropic":
        assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
        results = turns[-1]["content"]
        assert [block["tool_use_id"] for block in results] == ["c1", "c2"]
        assert [block["is_error"] for block in results] == [False, True]
    else:
        assert [turn["role"] for turn in turns] == ["user", "assistant", "tool", "tool"]
        assert [turn["tool_call_id"] for turn in turns[-2:]] == ["c1", "c2"]


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
        (404, "No endpoints found that support tool use."),
        (400, '"auto" tool choice requires --enable-auto-tool-choice'),
    ],
)
async def test_a_model_that_cannot_call_tools_is_told_as_such(
    wire: Wire, status: int, said: str
) -> None:
    async with serving(json_reply({"error": {"message": said}}, status=status)) as server:
        with pytest.raises(NoTools):
            await collect(wire, server, REQUEST)
    assert len(server.received) == 1
