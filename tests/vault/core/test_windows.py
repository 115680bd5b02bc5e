"""A window is whole sentences around a place, small, and leads on in both directions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vault.core.tokens import estimate_tokens
from vault.core.windows import WINDOW_TOKENS, Window, window_around

SENTENCES = [f"The pump number {n} stands in the cellar of the old mill." for n in range(20)]
TEXT = " ".join(SENTENCES)


def window(text: str, wanted: str, *, most: int = WINDOW_TOKENS) -> Window:
    start = text.index(wanted)
    found = window_around(text, (start, start + len(wanted)), within=(0, len(text)), most=most)
    assert found is not None
    return found


def test_it_holds_the_sentence_and_its_neighbours_whole() -> None:
    found = window(TEXT, "number 7")
    shown = TEXT[found.start : found.end]
    assert SENTENCES[7] in shown
    assert SENTENCES[8] in shown
    assert SENTENCES[6] in shown
    assert shown.startswith("The pump")
    assert shown.endswith("mill.")
    assert estimate_tokens(shown) <= WINDOW_TOKENS


def test_it_ends_where_its_section_ends() -> None:
    start, end = TEXT.index(SENTENCES[4]), TEXT.index(SENTENCES[6])
    place = (TEXT.index("number 5"), TEXT.index("number 5") + 8)
    found = window_around(TEXT, place, within=(start, end))
    assert found is not None
    assert TEXT[found.start : found.end] == f"{SENTENCES[4]} {SENTENCES[5]}"
    assert (found.before, found.after) == (None, None)


def test_following_the_places_after_reads_everything_once() -> None:
    found = window(TEXT, "number 0")
    read = [TEXT[found.start : found.end]]
    while found.after is not None:
        found = window_around(TEXT, found.after, within=(0, len(TEXT))) or found
        read.append(TEXT[found.start : found.end])
    assert " ".join(read) == TEXT


def test_following_the_places_before_comes_to_the_start() -> None:
    found, reads = window(TEXT, "number 19"), 1
    while found.before is not None:
        found = window_around(TEXT, found.before, within=(0, len(TEXT))) or found
        reads += 1
    assert found.start == 0
    assert reads < len(SENTENCES)


def test_a_sentence_without_end_is_cut() -> None:
    text = "pump " * 5_000
    found = window_around(text, (12_000, 12_004), within=(0, len(text)))
    assert found is not None
    assert found.start <= 12_000 < found.end
    assert estimate_tokens(text[found.start : found.end]) <= WINDOW_TOKENS


def test_of_a_long_place_the_start_is_read() -> None:
    found = window_around(TEXT, (0, len(TEXT)), within=(0, len(TEXT)))
    assert found is not None
    assert found.start == 0
    assert found.after is not None


def test_blanks_have_no_window() -> None:
    assert window_around(" \n\n ", (0, 1), within=(0, 4)) is None


@given(st.text(max_size=300), st.integers(0, 300), st.integers(1, 40))
def test_of_any_text_it_is_a_part_that_can_be_read(text: str, start: int, length: int) -> None:
    found = window_around(text, (start, start + length), within=(0, len(text)), most=20)
    if found is None:
        assert not text.strip()
        return
    assert 0 <= found.start < found.end <= len(text)
    assert text[found.start : found.end].strip()
    assert found.before is None or found.before[1] <= found.start
    assert found.after is None or found.after[0] >= found.end
