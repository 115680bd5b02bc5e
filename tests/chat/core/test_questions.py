"""Questions about notes, worded as a reader would ask, in the note's language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.core.questions import question_about, question_on


def test_a_heading_that_asks_is_taken_as_it_stands() -> None:
    assert question_about("Restore", ["Before", "Who may start it?"]) == "Who may start it?"


def test_a_title_makes_a_question() -> None:
    assert question_about("Backup drills", []) == "What do the notes say about “Backup drills”?"


def test_every_second_question_goes_into_a_section() -> None:
    assert question_about("Backup drills", ["September"], nth=1) == (
        "What does “Backup drills” say about “September”?"
    )


@pytest.mark.parametrize("title", ["README", "index", "2026-03-04", "a", "x" * 90, "???", ""])
def test_titles_that_say_nothing_make_no_question(title: str) -> None:
    assert question_about(title, []) == ""


def test_a_title_alone_is_not_asked_about_itself() -> None:
    assert question_about("Boiler room", ["Boiler room"], nth=1) == (
        "What do the notes say about “Boiler room”?"
    )


@pytest.mark.parametrize(
    ("title", "heading", "expected"),
    [
        ("Operations", "Commands", "What does “Operations” say about “Commands”?"),
        ("Operations", "When something is killed", "What happens when something is killed?"),
        ("Asking", "Without a model", "What happens without a model?"),
        ("Pump", "How to start it", "How do I start it?"),
        ("Notes", "How a note is cut", "What does “Notes” say about how a note is cut?"),
        ("Pump", " Who repairs it? ", "Who repairs it?"),
        ("Отпуск", "Перенос дней", "Что в заметке «Отпуск» сказано о теме «Перенос дней»?"),
        ("水泵", "三月的故障", "《水泵》里关于“三月的故障”是怎么说的？"),
    ],
)
def test_a_section_makes_a_question(title: str, heading: str, expected: str) -> None:
    assert question_on(title, heading) == expected


def test_the_text_of_a_note_tells_the_language_where_its_title_does_not() -> None:
    assert question_on("Wartung", "Filter", opening="Die Pumpe wird nicht im Winter gewartet.") == (
        "Was steht in „Wartung“ über „Filter“?"
    )


def test_a_short_chinese_title_says_enough() -> None:
    assert question_about("水泵", []) == "笔记里关于“水泵”是怎么说的？"


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=3), st.text(max_size=80))
def test_any_note_makes_a_question_or_none(title: str, headings: list[str], opening: str) -> None:
    for nth in range(3):
        asked = question_about(title, headings, opening=opening, nth=nth)
        assert asked == "" or asked.endswith(("?", "？", "؟"))
