"""Calls of tools as servers really spell them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.core.tool_calls import (
    MOST_CALLS,
    CallCollector,
    CallDelta,
    arguments_of,
    function_of,
)
from providers.core.types import ToolCall, ToolSpec


def collect(*deltas: CallDelta) -> list[ToolCall]:
    collector = CallCollector()
    for delta in deltas:
        collector.feed(delta)
    return collector.calls()


def test_calls_at_one_place_are_told_apart_by_their_ids() -> None:
    assert collect(
        CallDelta(0, "a", "search", '{"q"'),
        CallDelta(0, "b", "read", "{}"),
        CallDelta(0, "a", arguments=": 1}"),
    ) == [ToolCall("a", "search", '{"q": 1}'), ToolCall("b", "read", "{}")]


def test_calls_without_a_place_are_told_apart_by_their_names() -> None:
    assert collect(
        CallDelta(name="search", arguments='{"q"'),
        CallDelta(arguments=": 1}"),
        CallDelta(name="search", arguments='{"q": 2}'),
    ) == [ToolCall("call_1", "search", '{"q": 1}'), ToolCall("call_2", "search", '{"q": 2}')]


def test_a_made_up_id_is_never_one_that_is_taken() -> None:
    calls = collect(CallDelta(0, "", "a"), CallDelta(1, "call_1", "b"), CallDelta(2, "", "c"))
    assert len({call.id for call in calls}) == 3


def test_no_arguments_are_an_empty_object() -> None:
    assert collect(CallDelta(0, "a", "list"))[0].arguments == "{}"


def test_a_flood_of_calls_is_cut() -> None:
    assert len(collect(*(CallDelta(n, f"id{n}", "x") for n in range(200)))) == MOST_CALLS


@given(st.lists(st.text(), min_size=1), st.integers(0, 3))
def test_pieces_in_any_cut_give_the_same_text(pieces: list[str], place: int) -> None:
    deltas = [CallDelta(place, "a", "x"), *(CallDelta(place, arguments=each) for each in pieces)]
    whole = collect(CallDelta(place, "a", "x", "".join(pieces)))
    assert collect(*deltas) == whole
    whole[0].arguments.encode()


@pytest.mark.parametrize("text", ["", "[1]", "null", '{"a"', "[" * 100_000])
def test_what_is_no_object_has_no_arguments(text: str) -> None:
    assert arguments_of(ToolCall("a", "x", text)) == {}


def test_half_a_character_is_never_said_back() -> None:
    given = arguments_of(ToolCall("a", "x", r'{"q": "\ud83d"}'))
    assert given == {"q": "\ufffd"}


def test_a_tool_in_the_form_of_chat_completions() -> None:
    schema = {"type": "object", "properties": {}}
    assert json.loads(json.dumps(function_of(ToolSpec("x", "does", schema)))) == {
        "type": "function",
        "function": {"name": "x", "description": "does", "parameters": schema},
    }
