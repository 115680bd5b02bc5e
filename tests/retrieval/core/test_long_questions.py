"""Of a long message its questions, its end and its beginning are searched."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.long_questions import LONGEST_QUESTIONS, questions_in, shorten
from retrieval.core.query import LONGEST_QUERY

PASTED = "The ledger was closed by the clerk, line after line, as every evening. " * 40
LONG_TEXT = st.builds(
    lambda text, times: text * times,
    st.text(st.characters(codec=None), min_size=1, max_size=60),
    st.integers(1, 200),
)


@given(LONG_TEXT)
def test_any_message_is_shortened_to_what_can_be_searched(text: str) -> None:
    short = shorten(text)
    assert len(short) <= LONGEST_QUERY
    assert len(questions_in(text)) <= LONGEST_QUESTIONS
    assert bool(short.split()) == bool(text.replace("\x00", " ").split()) or len(text) > len(short)
    short.encode()


def test_a_short_message_is_searched_as_it_is() -> None:
    text = "Pumps:\n  which?  The blue one."
    assert shorten(text) == text


def test_the_question_is_kept_wherever_it_stands() -> None:
    question = "When was the blue pump serviced?"
    for text in (PASTED + question, question + " " + PASTED, PASTED + question + "\n" + PASTED):
        assert question in shorten(text)
        assert questions_in(text) == question


def test_a_message_that_asks_nothing_keeps_its_ends() -> None:
    short = shorten(f"Alpha begins. {PASTED} Omega ends.")
    assert short.startswith("Alpha begins.")
    assert short.endswith("Omega ends.")
    assert questions_in(PASTED) == ""


def test_a_text_without_sentences_keeps_its_ends() -> None:
    short = shorten("alpha " + "word " * 2_000 + "omega")
    assert short.startswith("alpha")
    assert short.endswith("omega")
