"""Whether a question may be about source code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.code_questions import may_ask_for_code, wants_code_alone
from retrieval.core.filters import take_filters


@pytest.mark.parametrize(
    "question",
    [
        "Which function joins two passages?",
        "Where in the code is the delay worked out",
        "the module that cuts notes",
        "who calls mergeAll()",
        "why does std::sort fail here",
        "Welche Funktion entfernt die Marken?",
        "какая функция считает слова",
        "哪个函数计算权重",
        "どの関数が呼ばれますか",
    ],
)
def test_words_for_parts_of_a_program_and_calls_are_signs(question: str) -> None:
    assert may_ask_for_code(question)


@pytest.mark.parametrize(
    "question",
    [
        "",
        "Who waters the garden in May?",
        "How do I set DATA_DIR and embed_batch?",
        "Which commands does manage.py have?",
        "How do I connect OpenAI to my QuerySet?",
        "What happened at the first-class counter?",
        "CVE-2021-3281",
        "Wie funktioniert die Heizung?",
        "Comment fonctionne la pompe ?",
    ],
)
def test_other_questions_have_none(question: str) -> None:
    assert not may_ask_for_code(question)


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert may_ask_for_code(text) in {True, False}


def test_a_filter_for_code_is_a_wish_and_one_against_it_is_none() -> None:
    assert wants_code_alone(take_filters("pump kind:code")[1])
    assert not wants_code_alone(take_filters("pump -kind:code")[1])
    assert not wants_code_alone(take_filters("pump kind:note")[1])
