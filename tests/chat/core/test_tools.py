"""What of a call is let through: schema, allow-list, and nothing that was not asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.core.tools import LONGEST_TEXT, NAMES, TOOLS, CallRefused, Wanted, read_call
from providers.core.types import ToolCall


def call(name: str = "search", /, **arguments: Any) -> ToolCall:
    return ToolCall("c1", name, json.dumps(arguments))


def read(name: str = "search", /, **arguments: Any) -> Wanted:
    return read_call(call(name, **arguments), allowed=NAMES)


def test_a_search_is_read_with_its_filters() -> None:
    wanted = read(query=" the seal ", limit="3", folder="Ops", tag="#pump", after="2026-01")
    assert wanted.text("query") == "the seal"
    assert wanted.number("limit", 5) == 3
    assert [(each.name, each.value) for each in wanted.filters] == [
        ("folder", "ops"), ("tag", "pump"), ("after", "2026-01-01"),
    ]  # fmt: skip
    assert wanted.what == "the seal folder:Ops tag:#pump after:2026-01"


def test_what_was_left_out_has_its_default() -> None:
    assert read(query="x", why=None).number("limit", 5) == 5


def test_a_passage_may_be_named_by_its_number() -> None:
    wanted = read("get_section", note=3, heading="Failure", part=2.0)
    assert (wanted.text("note"), wanted.number("part", 1)) == ("3", 2)
    assert wanted.what == "3 > Failure"


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("delete_note", '{"query": "x"}', "no tool “delete_note”"),
        ("search", '{"query": "x"', "not JSON"),
        ("search", "[" * 100_000, "not JSON"),
        ("search", '["x"]', "one JSON object"),
        ("search", "{}", "“query” is missing"),
        ("search", '{"query": "  "}', "“query” is empty"),
        ("search", '{"query": "\\u0000"}', "“query” is empty"),
        ("search", '{"query": ["x"]}', "“query” must be a text"),
        ("search", '{"query": "x", "vaults": ["foreign"]}', "takes no “vaults”"),
        ("search", '{"query": "x", "limit": 99}', "from 1 to 8"),
        ("search", '{"query": "x", "limit": true}', "from 1 to 8"),
        ("search", '{"query": "x", "after": "soon"}', "a day such as 2026-01-31"),
        ("search", json.dumps({"query": "x" * (LONGEST_TEXT + 1)}), "more than 400 characters"),
        ("get_section", '{"note": "Pump", "part": 0}', "from 1 to 1000"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(name: str, arguments: str, said: str) -> None:
    with pytest.raises(CallRefused, match=said):
        read_call(ToolCall("c1", name, arguments), allowed=NAMES)


def test_a_tool_that_is_not_allowed_is_as_if_it_were_not_there() -> None:
    with pytest.raises(CallRefused) as refused:
        read_call(call("get_section", note="Pump"), allowed=("search",))
    assert str(refused.value) == "There is no tool “get_section”. There are: search."


def test_equal_calls_are_equal_whatever_reason_is_given() -> None:
    assert read(query="x", why="a").essence == read(query="x", why="b").essence
    assert read(query="x").essence != read(query="x", tag="y").essence


def test_models_are_told_exactly_what_is_let_through() -> None:
    for tool in TOOLS.values():
        schema = tool.spec.schema
        assert schema["additionalProperties"] is False
        assert set(schema["properties"]) == {each.name for each in tool.parameters}
        assert "why" in schema["properties"]
        json.dumps(schema)


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text())
NAMED = st.sampled_from(["query", "limit", "folder", "tag", "after", "before", "note", "part", "x"])


@given(st.sampled_from([*NAMES, "other"]), st.dictionaries(NAMED, VALUES) | VALUES)
def test_whatever_a_model_sends_is_read_or_refused(name: str, arguments: Any) -> None:
    try:
        wanted = read_call(ToolCall("c1", name, json.dumps(arguments)), allowed=NAMES)
    except CallRefused as refused:
        assert str(refused)
    else:
        assert set(wanted.arguments) <= {each.name for each in TOOLS[name].parameters}
        wanted.what.encode()


@given(st.text())
def test_whatever_text_the_arguments_are_is_read_or_refused(text: str) -> None:
    with pytest.raises(CallRefused):
        read_call(ToolCall("c1", "search", text), allowed=NAMES)
