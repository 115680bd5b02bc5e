"""Reasoning is told from the answer, wherever the wire cuts the text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.core.reasoning import ReasoningSplitter
from providers.core.types import ReasoningDelta, TextDelta, Withdrawal


def split(*deltas: str) -> tuple[str, str]:
    """The text a reader ends up with, and the reasoning."""
    splitter = ReasoningSplitter()
    text = reasoning = ""
    pieces = [piece for delta in deltas for piece in splitter.feed(delta)]
    for piece in [*pieces, *splitter.finish()]:
        if isinstance(piece, Withdrawal):
            text = ""
        elif isinstance(piece, ReasoningDelta):
            reasoning += piece.text
        else:
            assert isinstance(piece, TextDelta)
            text += piece.text
    return text, reasoning


CASES = [
    ("<think>plan</think>\n\nAnswer.", "Answer.", "plan"),
    ("\n<THINK>plan</Think>Answer.", "Answer.", "plan"),
    ("<think>only", "", "only"),
    ("<think></think>Answer.", "Answer.", ""),
    ("<think>a</think>\n<think>b</think>\nAnswer.", "Answer.", "ab"),
    ("One.\n<think>second thought</think>\nTwo.", "One.\n\nTwo.", "second thought"),
    ("<reasoning>plan</reasoning>Answer.", "Answer.", "plan"),
    ("<think>is 1 < 2 and </b> fine?</think>Yes.", "Yes.", "is 1 < 2 and </b> fine?"),
    # A closing tag that nothing opened: what came before was reasoning.
    ("secret more</think>Answer [1].", "Answer [1].", ""),
    ("secret</think>\n\nAnswer with `</think>` in code.", "Answer with `</think>` in code.", ""),
    # Answers about the tag itself stay whole.
    ("In HTML you may write `<think>` or so.", "In HTML you may write `<think>` or so.", ""),
    ("End it with `</think>` there.", "End it with `</think>` there.", ""),
    ("``a ` <think>``", "``a ` <think>``", ""),
    ("Text:\n```\n<think>x</think>\n```\nmore", "Text:\n```\n<think>x</think>\n```\nmore", ""),
    ("~~~html\n<think>\n~~~\n", "~~~html\n<think>\n~~~\n", ""),
    ("````\n```\n<think>\n````\n", "````\n```\n<think>\n````\n", ""),
    ("or ```\n<think>x</think>\n```\n and", "or ```\n<think>x</think>\n```\n and", ""),
    ("Write\n    <think>\nindented", "Write\n    <think>\nindented", ""),
    ("a <b> c <thin> <", "a <b> c <thin> <", ""),
    # A fence that is closed no longer protects.
    ("```\ncode\n```\n<think>plan</think>Then.", "```\ncode\n```\nThen.", "plan"),
    # An unclosed backtick ends with its paragraph.
    ("a ` b\n\n<think>plan</think>c", "a ` b\n\nc", "plan"),
]


@pytest.mark.parametrize(("whole", "text", "reasoning"), CASES)
def test_whole_and_letter_by_letter(whole: str, text: str, reasoning: str) -> None:
    assert split(whole) == (text, reasoning)
    assert split(*whole) == (text, reasoning)


@given(st.sampled_from(CASES), st.lists(st.integers(0, 60), max_size=5))
def test_cuts_change_nothing(case: tuple[str, str, str], cuts: list[int]) -> None:
    whole, text, reasoning = case
    places = sorted({0, len(whole), *(min(cut, len(whole)) for cut in cuts)})
    pieces = [whole[a:b] for a, b in pairwise(places)]
    assert split(*pieces) == (text, reasoning)


@given(st.text(alphabet="ab `~\n<>/think", max_size=60))
def test_wild_text_is_cut_invariant(text: str) -> None:
    assert split(text) == split(*text)


@given(st.text(alphabet=st.characters(exclude_characters="<")))
def test_text_without_tags_is_only_stripped_in_front(text: str) -> None:
    assert split(text) == (text.lstrip(), "")
