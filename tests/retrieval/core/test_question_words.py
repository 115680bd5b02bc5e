"""Words that ask, where no spaces stand between words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.question_words import without_question_words


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("转子的另一个名称是什么?", "转子的另一个名称 ?"),
        ("什么是水泵", " 水泵"),
        ("為什麼要備份", " 要備份"),
        ("谁赢得了第 49 届超级碗？", " 赢得了第 49 届超级碗？"),
        ("备份完成了吗？", "备份完成了 ？"),
        ("ポンプはどこですか", "ポンプは  "),
        ("펌프는 어디에 있습니까", "펌프는   있습니까"),
        ("ปั๊มอยู่ที่ไหน", "ปั๊มอยู่ "),
    ],
)
def test_words_that_ask_are_taken_out(question: str, left: str) -> None:
    assert without_question_words(question).split() == left.split()


@pytest.mark.parametrize(
    "text",
    [
        "What is a pump?",
        "Где насос?",
        "吗啡的剂量",
        "哪吒的故事",
        "幾何の問題",
        "ぶどうなどの果物",
        "ところどころ",
        "왜구의 역사",
        "什么",
        "什么？",
        "",
    ],
)
def test_other_words_and_a_text_of_such_words_alone_stay(text: str) -> None:
    assert without_question_words(text) == text


@given(
    st.text(st.sampled_from("什么谁何是水 どこのか왜어디อะไร?a"), max_size=40)
    | st.text(max_size=60)
)
def test_nothing_is_added_and_a_word_is_always_left(text: str) -> None:
    left = without_question_words(text)
    assert set(left) <= set(text) | {" "}
    assert any(map(str.isalnum, left)) == any(map(str.isalnum, text))
