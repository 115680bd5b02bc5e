"""Everyday words of many languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.everyday_words import everyday_words_in


@pytest.mark.parametrize(
    ("text", "everyday"),
    [
        ("Wie viele Urlaubstage habe ich?", ("wie", "viele", "habe", "ich")),
        ("Сколько дней отпуска нужно?", ("сколько", "нужно")),
        ("Which PUMP, which valve", ("which",)),
        ("kuberntes postgers", ()),
        ("", ()),
    ],
)
def test_words_of_everyday_use_are_known(text: str, everyday: tuple[str, ...]) -> None:
    assert everyday_words_in(text) == everyday


@given(st.text())
def test_any_text_has_its_words_once(text: str) -> None:
    found = everyday_words_in(text)
    assert len(set(found)) == len(found)
    assert all(word in text.lower() for word in found)
