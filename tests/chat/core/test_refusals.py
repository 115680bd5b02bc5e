"""What says that there is no answer, and what says something besides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.core.refusals import is_refusal, is_refusal_alone

ALONE = [
    "I don't know.",
    "I cannot answer this from the notes.",
    "**The notes do not say when the pump failed.**",
    "The passages don't mention it.",
    "There is no information about this in the notes.",
    "Die Notizen enthalten dazu nichts.",
    "Es tut mir leid, das weiß ich nicht.",
    "В заметках об этом ничего нет.",
    "У нотатках про це нічого немає.",
    "Je ne sais pas.",
    "笔记中没有相关内容。",
]


@pytest.mark.parametrize("text", ALONE)
def test_a_refusal_alone(text: str) -> None:
    assert is_refusal_alone(text)


@pytest.mark.parametrize(
    "text",
    [
        "The notes do not say. The capital of France is Paris.",
        "I don't know, but it may be Paris.",
        "There is no pump in hall 3.",
        "Die Notizen sagen das nicht, aber es ist Paris.",
        "The notes do not say: Paris.",
    ],
)
def test_a_refusal_that_says_something_besides(text: str) -> None:
    assert is_refusal(text)
    assert not is_refusal_alone(text)


@pytest.mark.parametrize(
    "text",
    ["The pump failed in March.", "Paris.", "", "Notes on pumps", "The notes of March name it."],
)
def test_what_says_something_is_no_refusal(text: str) -> None:
    assert not is_refusal(text)


@given(st.text(max_size=200))
def test_only_a_refusal_is_one_alone(text: str) -> None:
    assert is_refusal(text.strip()) or not is_refusal_alone(text)
