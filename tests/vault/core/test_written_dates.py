"""Days that a text names in full."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.core.months import MONTH_OF
from vault.core.written_dates import written_dates


@pytest.mark.parametrize(
    "text",
    ["5 March 2026", "March 5th, 2026", "the 5th of March, 2026", "Mar. 5 2026", "5. März 2026",
     "5 mars 2026", "5 de marzo de 2026", "5 marzo 2026", "5 de março de 2026", "5 maart 2026",
     "5 marca 2026", "5. března 2026", "5 марта 2026 года", "5 березня 2026", "5 Mart 2026",
     "2026. március 5.", "5 Μαρτίου 2026", "5 मार्च 2026", "5 มีนาคม 2026", "5 مارس 2026",
     "2026年3月5日", "2026年03月05日", "2026년 3월 5일", "5.3.2026", "05.03.2026"],
)  # fmt: skip
def test_a_day_is_read_in_many_languages(text: str) -> None:
    assert written_dates(f"On ({text}), or so.") == ("2026-03-05",)


def test_days_with_slashes_are_read_both_ways() -> None:
    assert written_dates("3/4/2026 and 13/4/2026") == ("2026-04-03", "2026-03-04", "2026-04-13")


@pytest.mark.parametrize(
    "text",
    ["", "31.2.2026", "in 2026", "5 pumps 2026", "version 1.2.2026.3", "2026-03-05", "5 March",
     "99/99/2026", "March 2026"],
)  # fmt: skip
def test_what_is_no_day_with_its_year_is_none(text: str) -> None:
    assert written_dates(text) == ()


@given(st.text())
def test_any_text_gives_days_in_iso_form(text: str) -> None:
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", each) for each in written_dates(text + " 2026"))


def test_names_of_months_are_of_one_month_each() -> None:
    assert set(MONTH_OF.values()) == set(range(1, 13))
    assert all(name == name.casefold() for name in MONTH_OF)
