"""The gaps of a preset: which there are, and what fills them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chat.core.presets import Variable, fill_in, variables_of


def test_gaps_are_named_once_in_order_with_their_defaults() -> None:
    text = "Compare {{first}} with {{ Second thing = the plan }}, and {{first=x}} again, {{date}}"
    assert variables_of(text) == (
        Variable("first", "x"),
        Variable("second thing", "the plan"),
        Variable("date"),
    )
    assert variables_of(text)[2].is_known


def test_gaps_are_filled_and_what_is_missing_takes_its_default() -> None:
    text = "What of {{ topic }} in {{year=2024}}?"
    assert fill_in(text, {"topic": "herons"}) == "What of herons in 2024?"
    assert fill_in(text, {"topic": "herons", "year": "2025"}) == "What of herons in 2025?"


def test_braces_that_are_no_gap_stay() -> None:
    for text in ("{topic}", "{{}}", "{{ 1st }}", "{{a", "}} b {{"):
        assert variables_of(text) == ()
        assert fill_in(text, {}) == text


@given(value=st.text(min_size=1))
def test_a_value_is_taken_as_it_is(value: str) -> None:
    """A gap inside a value is what somebody typed, not a gap."""
    assert fill_in("<{{x}}>{{y=1}}", {"x": value}) == f"<{value}>1"
    assert fill_in("<{{x}}>", {"x": "{{y=no}}"}) == "<{{y=no}}>"
