"""The day of a note: by itself, by its path, by its file."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.note_day import note_day

CHANGED = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("properties", "path", "day"),
    [
        ({"date": "2024-01-01"}, "2025-05-05.md", date(2024, 1, 1)),
        ({"date": "2024-01-01T10:00:00+02:00"}, "a.md", date(2024, 1, 1)),
        ({}, "Daily/2026-03-14.md", date(2026, 3, 14)),
        ({}, "Daily/2026-03-14 meeting.md", date(2026, 3, 14)),
        ({"date": "some day"}, "a 2026-03-14.md", date(2026, 3, 14)),
        ({"date": "2026-02-31"}, "a.md", CHANGED),
        ({}, "12026-03-145.md", CHANGED),
        ({"date": None}, "a.md", CHANGED),
        ({"date": ["2024-01-01"]}, "a.md", CHANGED),
    ],
)
def test_a_note_is_of_the_day_it_says(properties: dict[str, Any], path: str, day: date) -> None:
    assert note_day(properties, path, changed=CHANGED) == day


@given(st.dictionaries(st.just("date"), st.text() | st.integers() | st.none()), st.text())
def test_whatever_a_note_says_it_has_a_day(properties: dict[str, Any], path: str) -> None:
    assert isinstance(note_day(properties, path, changed=CHANGED), date)
