"""Whether a question may be about source code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.code_questions import CodeSign, code_sign, wants_code_alone
from retrieval.core.filters import take_filters


@pytest.mark.parametrize(
    "question",
    [
        "Which function joins two passages?",
        "Where in the code is the delay worked out",
        "which method stops the statement",
        "the module that cuts notes",
        "implementation of the fusion",
        "who calls mergeAll()",
        "why does std::sort fail here",
        "Welche Funktion entfernt die Marken?",
        "какая функция считает слова",
        "в каком модуле считается цена",
        "哪个函数计算权重",
        "どの関数が呼ばれますか",
    ],
)
def test_parts_of_a_program_that_are_asked_for_are_strong_signs(question: str) -> None:
    assert code_sign(question) is CodeSign.STRONG


@pytest.mark.parametrize(
    "question",
    [
        "What is the preferred payment method?",
        "which method of payment is accepted",
        "the method of retrying a payment",
        "the class of customers",
        "Is there a discount code?",
        "Methode der Zahlung",
        "метод оплаты",
        "支付方法",
    ],
)
def test_words_that_other_things_are_called_as_well_are_weak_signs(question: str) -> None:
    assert code_sign(question) is CodeSign.WEAK


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
def test_other_questions_have_no_sign(question: str) -> None:
    assert code_sign(question) is CodeSign.NONE


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert code_sign(text) in set(CodeSign)


def test_a_filter_for_code_is_a_wish_and_one_against_it_is_none() -> None:
    assert wants_code_alone(take_filters("pump kind:code")[1])
    assert not wants_code_alone(take_filters("pump -kind:code")[1])
    assert not wants_code_alone(take_filters("pump kind:note")[1])
