"""Questions about notes, worded as a reader would ask, in the note's language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.core.questions import question_about, question_on


def test_a_heading_that_asks_is_taken_as_it_stands() -> None:
    assert question_about("Restore", ["Before", "Who may start it?"]) == "Who may start it?"


def test_a_title_makes_a_question() -> None:
    assert question_about("Backup drills", []) == "What should I know about “Backup drills”?"
    opening = "Our backup drills begin at nine."
    assert question_about("Backup drills", [], opening=opening) == (
        "What should I know about backup drills?"
    )
    assert question_about("Restoring a dump", []) == "How does restoring a dump work?"


def test_half_a_question_among_the_headings_is_asked_before_the_title() -> None:
    headings = ["Before", "When a pump fails", "Spare parts"]
    assert question_about("Pump", headings) == "What happens when a pump fails?"


def test_every_second_question_goes_into_a_section() -> None:
    assert question_about("Backup drills", ["Notes", "Night shift"], nth=1) == (
        "What should I know about “Night shift” in “Backup drills”?"
    )
    assert question_about("Backup drills", ["September", "Backup drills"], nth=1) == (
        "What should I know about “Backup drills”?"
    )


@pytest.mark.parametrize(
    "title",
    ["README", "index", "2026-03-04", "a", "x" * 90, "???", "", "Monday, 4 May", "Welcome back"],
)
def test_titles_that_say_nothing_make_no_question(title: str) -> None:
    assert question_about(title, []) == ""


@pytest.mark.parametrize(
    "heading",
    [
        "Overview", "Notes:", "See also", "1. Summary", "📌 Links", "Step 3", "4 March 2026",
        "Q3 2025", "KW 12", "Übersicht", "März 2026", "См. также", "12 марта 2026", "Введение",
        "概述", "2024年3月5日", "第三章", "POST /api/chat", "make run --fast=1", "`a | b`",
        "What you see", "For scripts", "Using it", "Inside",
    ],
)  # fmt: skip
def test_headings_of_every_note_dates_and_commands_make_no_question(heading: str) -> None:
    assert question_on("Boiler room", heading) == ""


@pytest.mark.parametrize(
    ("title", "heading", "expected"),
    [
        ("Pump", "Spare parts", "What should I know about “Spare parts” in “Pump”?"),
        ("Pump", "2.1 The seal", "What should I know about the seal in “Pump”?"),
        ("2026-03-04", "Spare parts", "What should I know about “Spare parts”?"),
        ("Operations", "When something is killed", "What happens when something is killed?"),
        ("Asking", "Without a model", "What happens without a model?"),
        ("Pump", "How to start it", "How do I start it?"),
        ("Pump", "What to buy first", "What should I buy first?"),
        ("Pump", "Changing the filter", "How does changing the filter work?"),
        ("Notes", "How a note is cut", "Can you explain how a note is cut?"),
        ("Notes", "Which files are read", "Which files are read?"),
        ("Pump", " Who repairs it? ", "Who repairs it?"),
        ("Отпуск", "Перенос дней", "Что нужно знать о теме «Перенос дней» из заметки «Отпуск»?"),
        ("Отпуск", "Как перенести дни", "Как перенести дни?"),
        ("水泵", "三月的故障", "《水泵》里的“三月的故障”有哪些要点？"),
        ("水泵", "如何启动水泵", "如何启动水泵？"),
    ],
)
def test_a_section_makes_a_question(title: str, heading: str, expected: str) -> None:
    assert question_on(title, heading) == expected


def test_the_text_of_a_note_tells_the_language_where_its_title_does_not() -> None:
    opening = "Die Pumpe wird nicht im Winter gewartet."
    assert question_on("Wartung", "Filter", opening=opening) == (
        "Was sollte ich zum Thema „Filter“ aus „Wartung“ wissen?"
    )
    assert question_on("Wartung", "Wie man den Filter wechselt", opening=opening) == (
        "Kannst du erklären, wie man den Filter wechselt?"
    )


def test_a_short_chinese_title_says_enough() -> None:
    assert question_about("水泵", []) == "关于“水泵”有哪些要点？"


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=3), st.text(max_size=80))
def test_any_note_makes_a_question_or_none(title: str, headings: list[str], opening: str) -> None:
    for nth in range(3):
        asked = question_about(title, headings, opening=opening, nth=nth)
        assert asked == "" or asked.endswith(("?", "？", "؟"))
    for heading in headings:
        asked = question_on(title, heading, opening=opening)
        assert asked == "" or asked.endswith(("?", "？", "؟"))
