"""Titles: from the question at once, from a model only when it gives a good one."""

from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from chat.core.titles import LONGEST, LONGEST_FROM_MODEL, title_from_model, title_from_question

FAMILY = "👩‍👩‍👧‍👦"


@pytest.mark.parametrize(
    ("output", "title"),
    [
        ("<think>The user is asking about", None),
        ('<think>x</think>\n"Pump repair"', "Pump repair"),
        ("**Title:** Pump repair.", "Pump repair"),
        ("> [!warning]- Mind the valve", "Mind the valve"),
        ("- Pump repair", "Pump repair"),
        ("", None),
        (" \n ", None),
        ("Here is a thinking process: 1. ...", None),
        ("Sure, a title could be: Pump", None),
        ("Line one\nLine two", "Line one"),
        ("<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"),
        ("Перенесення ремонту насоса", "Перенесення ремонту насоса"),
        ("Заголовок: «Ремонт насоса»", "Ремонт насоса"),
        ("# Pump repair", "Pump repair"),
        ("Question: When did the pump fail?", "When did the pump fail?"),
        ("```", None),
        ("I cannot answer", None),
        ("I'm sorry, but I can't help with that.", None),
        ("**Unable to answer the question**", None),
        ("The notes do not say when the pump failed", None),
        ("Es tut mir leid", None),
        ("Я не можу відповісти", None),
        ("抱歉，我无法回答", None),
        ("Unable to log in after the update", "Unable to log in after the update"),
        ("Notes on the sorry state of the pump", "Notes on the sorry state of the pump"),
        ("The notes of March", "The notes of March"),
    ],
)
def test_a_models_title_is_cleaned_or_refused(output: str, title: str | None) -> None:
    assert title_from_model(output) == title


def test_a_models_long_title_is_cut_at_a_word() -> None:
    title = title_from_model("pump repair " * 30)
    assert title is not None
    assert len(title) <= LONGEST_FROM_MODEL
    assert title.endswith(("pump…", "repair…"))


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("When did the pump fail?", "When did the pump fail?"),
        ("When did it fail? And why was it so?", "When did it fail?"),
        ("  What\n is\tthis  ", "What is this"),
        ("ポンプはいつ故障した？なぜ？", "ポンプはいつ故障した？"),
        ("version 1.2 of the pump", "version 1.2 of the pump"),
        (
            "Tell me everything that you know about the pump that failed in March of last year",
            "Tell me everything that you know about the pump that failed…",
        ),
    ],
)
def test_the_first_sentence_is_the_first_title(question: str, title: str) -> None:
    assert title_from_question(question) == title


def test_a_title_is_cut_between_graphemes() -> None:
    title = title_from_question(FAMILY * 60)
    assert title.endswith("…")
    assert set(regex.findall(r"\X", title[:-1])) == {FAMILY}


@given(st.text(min_size=1, max_size=500))
def test_any_question_gives_one_line_that_fits(question: str) -> None:
    title = title_from_question(question)
    assert "\n" not in title
    assert len(regex.findall(r"\X", title)) <= LONGEST
    assert len(title) <= 200


@given(st.text(max_size=500))
def test_any_output_gives_a_title_that_fits_or_none(output: str) -> None:
    title = title_from_model(output)
    assert title is None or (title and "\n" not in title and len(title) <= 200)


def test_a_title_has_no_citation_marks() -> None:
    assert title_from_model("The pump failed in March [1]") == "The pump failed in March"
    assert title_from_model("The pump [1] and its seal [2, 3]") == "The pump and its seal"
    assert title_from_model("Pump failure [Source 1]") == "Pump failure"
    assert title_from_model("水泵故障[1]【2:0†source】") == "水泵故障"
