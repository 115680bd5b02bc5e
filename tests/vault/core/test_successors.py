"""A passage that was edited is found again by what it says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.core.successors import successor_of

NOTE = (
    "# Pump\n\nThe pump stands in hall four. The pump failed on 4 March because its seal was "
    "worn out.\n\n- Ann repaired it within three hours.\n\nNothing else happened in spring.\n"
)


@pytest.mark.parametrize(
    ("quote", "now"),
    [
        (
            "The pump failed on 3 March because its seal was worn.",
            "The pump failed on 4 March because its seal was worn out.",
        ),
        ("Ann repaired it in two hours.", "Ann repaired it within three hours."),
        (
            "The pump stands in hall five. The pump failed on 3 March because of its seal.",
            (
                "The pump stands in hall four. The pump failed on 4 March because its seal was "
                "worn out."
            ),
        ),
    ],
)
def test_an_edited_sentence_is_found(quote: str, now: str) -> None:
    span = successor_of(quote, NOTE)
    assert span is not None
    assert NOTE[slice(*span)] == now


def test_an_edited_chinese_sentence_is_found() -> None:
    span = successor_of("水泵在三月三日发生故障。", "概述。水泵在四月三日发生故障。")
    assert span == (3, 15)


@pytest.mark.parametrize("quote", ["Invoices are paid in thirty days.", "", "…", "\n"])
def test_what_is_like_nothing_has_no_successor(quote: str) -> None:
    assert successor_of(quote, NOTE) is None
    assert successor_of(quote, "") is None


@given(st.text(max_size=60), st.text(max_size=200))
def test_a_place_is_always_inside_the_text(quote: str, text: str) -> None:
    span = successor_of(quote, text)
    assert span is None or 0 <= span[0] < span[1] <= len(text)
