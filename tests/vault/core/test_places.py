"""A pointer to a place leads to the text it was made for, or says that this is gone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.core.places import Place, place_of, read_place


@given(st.text(min_size=1, max_size=60), st.text(max_size=40))
def test_what_is_written_is_read_and_found_where_it_was_made(text: str, before: str) -> None:
    place = place_of(text, len(before))
    assert read_place(str(place)) == place
    assert place.is_in(before + text)
    assert not place.is_in((before + text)[:-1])


def test_a_text_that_moved_or_changed_is_gone() -> None:
    place = place_of("The blue pump.", 5)
    assert place.is_in("Well. The blue pump.") is False
    assert place.is_in("12345The blue pump.")
    assert not place.is_in("12345The red pump..")


def test_a_place_without_a_check_is_whatever_stands_there() -> None:
    assert read_place(" 2-4 ") == Place(2, 4)
    assert Place(2, 4).is_in("abcd")
    assert not Place(2, 2).is_in("abcd")


@pytest.mark.parametrize(
    "written", ["", "x", "1", "1-", "-1-2", "1-2.", "1-2.3FA9", "1-2.3fa", "٣-٤"]
)
def test_what_is_no_place_is_none(written: str) -> None:
    assert read_place(written) is None
