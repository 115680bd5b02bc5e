"""Figures are said the way people read them."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import pytest

from providers.presenters import money, usage_chart, usage_tables
from providers.reports import Line, Totals, UsageReport

FIRST = date(2026, 3, 1)


def days(*tokens: int) -> list[Line]:
    return [
        Line(FIRST + timedelta(days=number), Totals(1, 0, count, 0, Decimal(count) / 1000))
        for number, count in enumerate(tokens)
    ]


@pytest.mark.parametrize(
    ("amount", "text"),
    [("0", "$0"), ("0.000012", "$0.000012"), ("0.05", "$0.05"), ("1234.567", "$1,234.57")],
)
def test_money_has_cents_and_more_places_only_under_a_cent(amount: str, text: str) -> None:
    assert money(Decimal(amount)) == text


def test_a_chart_names_its_heights_its_dates_and_each_bar() -> None:
    chart = usage_chart(days(1_500, 0, 900), measure="tokens")
    assert chart.heights == ("2,000", "1,000", "0")
    assert chart.dates == ("1 Mar", "2 Mar", "3 Mar")
    assert [bar.name for bar in chart.bars] == [
        "1 Mar 2026: 1,500",
        "2 Mar 2026: 0",
        "3 Mar 2026: 900",
    ]
    assert chart.summary == (
        "Tokens a day from 1 Mar 2026 to 3 Mar 2026; most on 1 Mar 2026: 1,500."
    )


def test_a_chart_of_cost_is_in_money() -> None:
    chart = usage_chart(days(1_500, 900), measure="cost")
    assert chart.heights == ("$2.00", "$1.00", "$0")
    assert chart.bars[1].name == "2 Mar 2026: $0.90"


def test_calls_are_whole_on_the_axis() -> None:
    assert usage_chart(days(1), measure="calls").heights == ("2", "1", "0")


@pytest.mark.parametrize("count", [1, 2, 4, 7, 30, 90, 366])
def test_the_axis_of_dates_begins_at_the_first_and_ends_at_the_last_day(count: int) -> None:
    lines = days(*range(count))
    shown = usage_chart(lines, measure="tokens").dates
    assert shown[0] == "1 Mar"
    last = lines[-1].name
    assert shown[-1] == f"{last.day} {last:%b}"
    assert len(shown) <= 5


def test_an_empty_chart_says_so() -> None:
    summary = usage_chart(days(0, 0), measure="tokens").summary
    assert summary == "Nothing was used from 1 Mar 2026 to 2 Mar 2026."


def test_rows_name_purposes_and_work_without_a_person() -> None:
    line = Line(None, Totals(1_234, 1, 10_000, 5, Decimal("0.5")))
    report = UsageReport(
        total=line.totals,
        days=(),
        models=(),
        purposes=(Line("embed_query", line.totals),),
        people=(line,),
        failures=(),
    )
    tables = usage_tables(report)
    assert tables["purposes"][0].name == "embedding of a query"
    row = tables["people"][0]
    assert (row.name, row.calls, row.input_tokens, row.cost) == (
        "Background work",
        "1,234",
        "10,000",
        "$0.50",
    )
