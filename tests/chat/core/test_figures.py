"""Figures however they are written, and what they count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.core.figures import all_figures, counted, figures, number_words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("at 10:30", {"10:30"}),
        ("at 02:00 or 2:00", {"2"}),
        ("3,50 and 3.5", {"3.5"}),
        ("version 1.2.3 of 10.0.0.1", {"1.2.3", "10.0.0.1"}),
        ("1,250 and 1.250 and 1 250", {"1250"}),
        ("on 04.03.2026 and 2026-03-04", {"4", "3", "2026"}),
        ("halls 1,2,3 and 4.", {"1", "2", "3", "4"}),
        ("no. 007", {"7"}),
        ("9" * 30, set()),
    ],
)
def test_a_figure_is_one_however_it_is_written(text: str, found: set[str]) -> None:
    assert figures(text) == found


def test_words_ranges_and_signs_are_figures_that_a_passage_has() -> None:
    assert number_words("Six halls, двух насосов, zwölf Tage, one") == {"6", "2", "12"}
    assert all_figures("halls 1 to 4") == {"1", "2", "3", "4"}
    assert all_figures("Seiten 7–9") == {"7", "8", "9"}
    assert all_figures("从1到900") == {"1", "900"}
    assert all_figures("十二个月, 两次, 三小时") == {"12", "2", "3"}


def test_lengths_of_time_are_counted_by_their_unit() -> None:
    assert counted("every six months, 2 weeks; за 3 часа") == {
        ("6", "month"), ("2", "week"), ("3", "hour"),
    }  # fmt: skip
    assert counted("35 pumps of the week") == frozenset()


@given(st.text(alphabet="0123456789.,: -–to年十二六six months\n", max_size=80))
def test_any_text_has_figures(text: str) -> None:
    assert figures(text) <= all_figures(text)
    assert all(figure.isdecimal() for figure, _unit in counted(text))
