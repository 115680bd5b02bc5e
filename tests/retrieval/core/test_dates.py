"""Times that questions speak of, in several languages, with a clock of the test's own."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.dates import asks_for_days_alone, dates_in

# A Monday.
TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what did we decide yesterday?", "2026-11-29", "2026-11-29"),
        ("the day before yesterday", "2026-11-28", "2026-11-28"),
        ("minutes of last week", "2026-11-23", "2026-11-29"),
        ("this week", "2026-11-30", "2026-12-06"),
        ("last Monday", "2026-11-23", "2026-11-23"),
        ("in March 2024", "2024-03-01", "2024-03-31"),
        ("in February 2024", "2024-02-01", "2024-02-29"),
        ("in December", "2025-12-01", "2025-12-31"),
        ("the last 7 days", "2026-11-23", "2026-11-30"),
        ("3 days ago", "2026-11-27", "2026-11-27"),
        ("2 months ago", "2026-09-01", "2026-09-30"),
        ("March 5, 2024", "2024-03-05", "2024-03-05"),
        ("the 5th of March 2024", "2024-03-05", "2024-03-05"),
        ("Q3 2025", "2025-07-01", "2025-09-30"),
        ("goals of this year", "2026-01-01", "2026-12-31"),
        ("notes since 2023", "2023-01-01", "2023-12-31"),
        ("2024-03", "2024-03-01", "2024-03-31"),
        ("on 2024-03-05", "2024-03-05", "2024-03-05"),
        ("5.3.2024", "2024-03-05", "2024-03-05"),
        ("on 3/14/2026?", "2026-03-14", "2026-03-14"),
        ("14/03/2026", "2026-03-14", "2026-03-14"),
        ("14-03-2026", "2026-03-14", "2026-03-14"),
        ("3/14/26", "2026-03-14", "2026-03-14"),
        ("2026/03/14", "2026-03-14", "2026-03-14"),
        ("the log of 20260314.", "2026-03-14", "2026-03-14"),
        ("am 14.3.26", "2026-03-14", "2026-03-14"),
        ("5/5/2026", "2026-05-05", "2026-05-05"),
        ("Was war gestern?", "2026-11-29", "2026-11-29"),
        ("letzten Monat", "2026-10-01", "2026-10-31"),
        ("vor 3 Tagen", "2026-11-27", "2026-11-27"),
        ("am 5. März 2024", "2024-03-05", "2024-03-05"),
        ("что решили вчера", "2026-11-29", "2026-11-29"),
        ("на прошлой неделе", "2026-11-23", "2026-11-29"),
        ("в марте 2024", "2024-03-01", "2024-03-31"),
        ("в 2023 году", "2023-01-01", "2023-12-31"),
        ("5 марта", "2026-03-05", "2026-03-05"),
        ("минулого тижня", "2026-11-23", "2026-11-29"),
        ("la semaine dernière", "2026-11-23", "2026-11-29"),
        ("hace 3 días", "2026-11-27", "2026-11-27"),
        ("los últimos 3 meses", "2026-08-30", "2026-11-30"),
        ("昨天的会议", "2026-11-29", "2026-11-29"),
        ("2024年3月的会议", "2024-03-01", "2024-03-31"),
        ("5 marca 2024", "2024-03-05", "2024-03-05"),
        ("2024. március 5.", "2024-03-05", "2024-03-05"),
        ("2024-3-5", "2024-03-05", "2024-03-05"),
        ("w październiku 2025", "2025-10-01", "2025-10-31"),
        ("im Januar", "2026-01-01", "2026-01-31"),
        ("10/2025", "2025-10-01", "2025-10-31"),
        ("2025 Q3", "2025-07-01", "2025-09-30"),
        ("2025Q3", "2025-07-01", "2025-09-30"),
        ("3. Quartal 2025", "2025-07-01", "2025-09-30"),
        ("third quarter of 2025", "2025-07-01", "2025-09-30"),
        ("III квартал 2025", "2025-07-01", "2025-09-30"),
        ("2025年第三季度", "2025-07-01", "2025-09-30"),
        ("KW 12", "2026-03-16", "2026-03-22"),
        ("was war in KW12/2025?", "2025-03-17", "2025-03-23"),
        ("2025-W12", "2025-03-17", "2025-03-23"),
        ("week 50", "2025-12-08", "2025-12-14"),
        ("неделя 12", "2026-03-16", "2026-03-22"),
        ("第12周", "2026-03-16", "2026-03-22"),
        ("vor sechs Tagen", "2026-11-24", "2026-11-24"),
        ("a week ago", "2026-11-23", "2026-11-29"),
        ("две недели назад", "2026-11-16", "2026-11-22"),
        ("the last seven days", "2026-11-23", "2026-11-30"),
        ("ieri", "2026-11-29", "2026-11-29"),
        ("o que foi ontem?", "2026-11-29", "2026-11-29"),
        ("ce que nous avons fait hier", "2026-11-29", "2026-11-29"),
        ("le compte rendu d'hier", "2026-11-29", "2026-11-29"),
        ("hier", "2026-11-29", "2026-11-29"),
        ("wczoraj", "2026-11-29", "2026-11-29"),
        ("χθες", "2026-11-29", "2026-11-29"),
        ("أمس", "2026-11-29", "2026-11-29"),
        ("어제 회의", "2026-11-29", "2026-11-29"),
        ("la settimana scorsa", "2026-11-23", "2026-11-29"),
        ("na semana passada", "2026-11-23", "2026-11-29"),
        ("w zeszłym tygodniu", "2026-11-23", "2026-11-29"),
        ("上周的会议", "2026-11-23", "2026-11-29"),
        ("先週", "2026-11-23", "2026-11-29"),
        ("지난주", "2026-11-23", "2026-11-29"),
        ("上周二", "2026-11-24", "2026-11-24"),
        ("上个月", "2026-10-01", "2026-10-31"),
        ("先月", "2026-10-01", "2026-10-31"),
        ("去年", "2025-01-01", "2025-12-31"),
        ("今年", "2026-01-01", "2026-12-31"),
        ("6天前", "2026-11-24", "2026-11-24"),
        ("最近7天", "2026-11-23", "2026-11-30"),
        ("3月5日", "2026-03-05", "2026-03-05"),
        ("12月", "2025-12-01", "2025-12-31"),
        ("2024년 3월 5일", "2024-03-05", "2024-03-05"),
    ],
)
def test_a_time_in_a_question_is_a_range_of_days(text: str, first: str, last: str) -> None:
    (found,) = dates_in(text, today=TODAY)
    assert (found.first.isoformat(), found.last.isoformat()) == (first, last)
    assert found.words in text


def test_a_date_that_can_be_read_in_two_ways_means_both_days() -> None:
    found = dates_in("what was on 3/4/2026?", today=TODAY)
    assert [each.first.isoformat() for each in found] == ["2026-04-03", "2026-03-04"]
    assert {each.words for each in found} == {"3/4/2026"}


@given(st.dates(date(2016, 1, 1), date(2027, 12, 31)))
def test_any_day_is_found_in_every_spelling(day: date) -> None:
    for spelling in (
        "%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y",
        "%d/%m/%y", "%m-%d-%Y", "%B %d, %Y", "%d %B %Y",
    ):  # fmt: skip
        found = dates_in(f"what of {day.strftime(spelling)}?", today=TODAY)
        assert day in {each.first for each in found}, spelling
        assert all(each.first == each.last for each in found)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "may I march on?",
        "2024-02-30",
        "31 February 2024",
        "INV-2024-01-02",
        "notes/2024-03-05",
        "9999999 days ago",
        "version 2024.3.1",
        "PostgreSQL version 14.3.26",
        "v14.3.26",
        "10.14.3.26",
        "14.3.26.1",
        "14.3.71",
        "14/31/2026",
        "20261314",
        "120260314",
        "3/14/2026/5",
        "the second week of training",
        "Wer ist hier zuständig?",
        "week 60",
        "5 pumps and 3 valves",
        "1/2 cup",
    ],
)
def test_what_is_no_time_means_none(text: str) -> None:
    assert dates_in(text, today=TODAY) == ()


def test_several_times_are_read_in_their_order() -> None:
    found = dates_in("from March 2024 or yesterday", today=TODAY)
    assert [each.words for each in found] == ["March 2024", "yesterday"]


@given(st.text(max_size=60) | st.from_regex(r"(last|vor|in) \d{1,9} \w{3,8}"), st.dates())
def test_any_text_on_any_day_gives_ranges_that_do_not_end_before_they_begin(
    text: str, today: date
) -> None:
    assert all(each.first <= each.last for each in dates_in(text, today=today))


@pytest.mark.parametrize(
    ("text", "is_alone"),
    [
        ("letzte Woche", True),
        ("What did we do last week?", True),
        ("notes from 2026-03-14", True),
        ("что было вчера?", True),
        ("昨天", True),
        ("上周做了什么？", True),
        ("la settimana scorsa", True),
        ("上周的水泵", False),
        ("what did we decide last week?", False),
        ("pump last week", False),
        ("what was there?", False),
        ("", False),
    ],
)
def test_a_question_of_a_time_alone_is_told_from_one_with_a_subject(
    text: str,
    is_alone: bool,  # noqa: FBT001
) -> None:
    assert asks_for_days_alone(text, today=TODAY) is is_alone
