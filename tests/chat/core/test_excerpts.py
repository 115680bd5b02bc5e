"""The place where searched words stand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chat.core.excerpts import LENGTH, excerpt


def test_the_words_are_marked_in_any_case() -> None:
    assert excerpt("The **Pump** failed [1]; the pumps too.", ["pump"]).marked == [
        ("The ", False),
        ("Pump", True),
        (" failed; the ", False),
        ("pump", True),
        ("s too.", False),
    ]


def test_a_long_text_is_cut_around_the_first_hit() -> None:
    text = "word " * 200 + "needle" + " word" * 200
    cut = excerpt(text, ["needle"])
    assert ("needle", True) in cut.marked
    assert cut.pieces[0].startswith("…word")
    assert cut.pieces[-1].endswith("…")


def test_without_a_hit_it_is_the_beginning() -> None:
    assert excerpt("Some text", ["other"]).marked == [("Some text", False)]
    assert excerpt("", []).marked == []


@given(st.text(max_size=600), st.lists(st.text(min_size=1, max_size=5), max_size=4))
def test_whatever_is_searched_an_excerpt_is_short(text: str, words: list[str]) -> None:
    assert len("".join(excerpt(text, words).pieces)) <= LENGTH + 2
