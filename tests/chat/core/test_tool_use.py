"""Whose word counts, and what is left to a model while it answers."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.core.tool_use import (
    LEAST_TOKENS,
    MOST_TOKENS,
    NO_TOOL_USE,
    PERMISSIONS,
    ToolLoop,
    ToolRules,
    allowed_names,
    permission,
    rules_left,
    tokens_for,
)
from chat.core.tools import NAMES, CallRefused
from providers.core.types import ToolCall

FREELY = ToolRules(permission="auto", names=NAMES, steps=3, tokens=1_000)


def search(query: str) -> ToolCall:
    return ToolCall("c", "search", json.dumps({"query": query}))


def test_nobody_choosing_means_one_search() -> None:
    assert permission([None, ""], limits=[]) == "never"


@pytest.mark.parametrize("chosen", PERMISSIONS)
def test_no_choice_goes_further_than_any_limit(chosen: str) -> None:
    for limits in product([None, "", *PERMISSIONS], repeat=2):
        held = permission([None, chosen], limits=limits)
        bounds = [each for each in limits if each]
        assert all(PERMISSIONS.index(held) <= PERMISSIONS.index(each) for each in bounds)
        assert held in (chosen, *bounds)


def test_names_of_other_programs_allow_nothing() -> None:
    assert allowed_names(None) == NAMES
    assert allowed_names(["Read", "search", "Bash"]) == ("search",)
    assert not ToolRules(permission="auto", names=allowed_names(["Bash"])).are_tools_offered


def test_without_permission_a_model_is_told_of_no_tool() -> None:
    assert NO_TOOL_USE.specs == ()
    assert not ToolLoop(NO_TOOL_USE).may_call
    with pytest.raises(CallRefused):
        ToolLoop(NO_TOOL_USE).take(search("x"))


def test_steps_are_counted_also_those_that_make_no_sense() -> None:
    loop = ToolLoop(FREELY)
    loop.take(search("one"))
    with pytest.raises(CallRefused, match="no tool"):
        loop.take(ToolCall("c", "rm", "{}"))
    with pytest.raises(CallRefused, match="exactly this before"):
        loop.take(search("one"))
    assert not loop.may_call
    with pytest.raises(CallRefused, match="No more searches are left"):
        loop.take(search("two"))


def test_no_room_and_no_leave_end_it() -> None:
    loop = ToolLoop(FREELY)
    loop.spend(1_000 - LEAST_TOKENS + 1)
    assert not loop.may_call
    refused = ToolLoop(FREELY)
    refused.end("The reader refused.")
    with pytest.raises(CallRefused, match="The reader refused"):
        refused.take(search("x"))


@given(st.lists(st.text(min_size=1, max_size=5), max_size=30))
def test_no_sequence_of_calls_gets_more_than_its_steps(queries: list[str]) -> None:
    loop, taken = ToolLoop(FREELY), 0
    for query in queries:
        try:
            loop.take(search(query))
        except CallRefused:
            continue
        taken += 1
    assert taken <= FREELY.steps


@pytest.mark.parametrize(("taken", "left"), [(0, 3), (2, 1), (3, 0), (9, 0)])
def test_an_answer_that_goes_on_has_the_steps_that_are_left(taken: int, left: int) -> None:
    rules = rules_left(FREELY, taken=taken, was_refused=False)
    assert rules.are_tools_offered == bool(left)
    assert rules == (replace(FREELY, steps=left) if left else NO_TOOL_USE)
    assert rules_left(FREELY, taken=taken, was_refused=True) == NO_TOOL_USE


def test_results_never_take_the_window() -> None:
    assert tokens_for(4_096) == 1_024
    assert tokens_for(1_000_000) == MOST_TOKENS
