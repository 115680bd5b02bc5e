"""Tags and folders in a question."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chat.core.narrowing import narrowing_in, without


def test_tags_and_paths_are_found_and_taken_out() -> None:
    question = 'Who pays #project/Alpha path:"Ops/On call" for it, #project/Alpha?'
    found = narrowing_in(question)
    assert [(each.name, each.value) for each in found] == [
        ("path", "ops/on call"),
        ("tag", "project/alpha"),
    ]
    assert without(question, found) == "Who pays for it, ?"


def test_what_only_looks_like_a_tag_is_text() -> None:
    assert narrowing_in("Is issue #12 about C# or F#, see a#b and https://x.test/#top?") == ()


def test_a_question_of_filters_alone_stays_what_is_searched_for() -> None:
    question = "#herons"
    assert without(question, narrowing_in(question)) == question


@given(st.text())
def test_any_question_can_be_looked_at(question: str) -> None:
    rest = without(question, narrowing_in(question))
    assert rest or not question
