"""Clean text goes into databases, frames and C libraries."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from providers.core.text import DeltaCleaner, clean

WILD = st.text(alphabet=st.characters(exclude_categories=()))


@given(WILD)
def test_clean_text_can_be_written_anywhere(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert "\0" not in cleaned


@given(st.text().filter(lambda text: "\0" not in text))
def test_good_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


def test_halves_become_the_character_they_mean() -> None:
    assert clean("\ud83d\ude00") == "😀"
    assert clean("a\ud83db") == "a\ufffdb"


@given(WILD)
def test_pieces_give_the_same_as_the_whole(text: str) -> None:
    cleaner = DeltaCleaner()
    assert "".join(map(cleaner.feed, text)) + cleaner.finish() == clean(text)
