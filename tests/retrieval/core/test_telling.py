"""The sentences that tell most: whole, short, chosen by what few of the others say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.telling import telling_span
from vault.core.tokens import estimate_tokens

TEXT = """## Pumps

The pumps of the mill are old. Every pump has a valve. The blue pump failed in March, \
because its seal was worn. The mill was built in 1890.

The red pump stands in the cellar of the pump house.
"""


def told(terms: list[str], text: str = TEXT, most: int = 24) -> str:
    start, end = telling_span(text, terms, most=most)
    return text[start:end]


def test_the_sentence_with_the_rarer_words_is_told() -> None:
    assert told(["when", "blue", "pump", "fail"]) == (
        "The blue pump failed in March, because its seal was worn."
    )
    assert told(["1890", "mill"], most=12) == "The mill was built in 1890."


def test_two_short_sentences_are_told_when_each_holds_a_part() -> None:
    assert told(["valve", "old"]) == "The pumps of the mill are old. Every pump has a valve."


def test_without_a_word_it_is_the_first_sentence_and_no_heading() -> None:
    assert told(["zebra"]) == "The pumps of the mill are old."
    assert told([], "# Alone\n") == "# Alone\n"


def test_words_of_scripts_without_spaces_are_found() -> None:
    text = "黑豹队的防守只丢了308分。职业碗防守截锋以11分领先。"
    assert told(["截锋"], text) == "职业碗防守截锋以11分领先。"


@given(st.text(max_size=400), st.lists(st.text(max_size=8), max_size=5))
def test_of_any_text_it_is_a_short_part(text: str, terms: list[str]) -> None:
    start, end = telling_span(text, terms, most=10)
    assert 0 <= start <= end <= len(text)
    several = "\n" in text[start:end].strip()
    assert not several or estimate_tokens(text[start:end]) <= 10 + 2 or start == 0
