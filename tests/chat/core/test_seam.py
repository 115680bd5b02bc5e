"""An answer that goes on: no word twice, none lost, whatever pieces the model sends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.core.seam import Seam, after, last_words, repeated_length

words = st.lists(
    st.text("abcdefg", min_size=3, max_size=9), min_size=2, max_size=12, unique=True
).map(" ".join)


def joined(kept: str, pieces: list[str]) -> str:
    seam = Seam(kept)
    return kept + "".join(seam.push(piece) for piece in pieces) + seam.finish()


@pytest.mark.parametrize(
    ("kept", "said", "whole"),
    [
        ("The pump failed in", "failed in March.", "The pump failed in March."),
        ("The pump fai", "The pump failed.", "The pump failed."),
        ("The pump fai", "failed.", "The pump failed."),
        ("The pump failed ", "pump failed in March.", "The pump failed in March."),
        ("The pump failed", "\n\npump failed in March.", "The pump failed in March."),
        ("The pump", "failed.", "The pump failed."),
        ("The pump", " failed.", "The pump failed."),
        ("The pump failed", ", they say.", "The pump failed, they say."),
        ("It failed.", "It was old.", "It failed. It was old."),
        ("It failed (", "in March).", "It failed (in March)."),
        ("- one\n- two\n", "- three", "- one\n- two\n- three"),
        ("- one\n- two", "\n- three", "- one\n- two\n- three"),
        ("ポンプは三月", "に故障した。", "ポンプは三月に故障した。"),
        ("In March [1", "In March [1] it failed.", "In March [1] it failed."),
        ("Whole so far. And", "Whole so far. And more.", "Whole so far. And more."),
        ("He had in", "inner peace", "He had in inner peace"),
        ("Nothing more", "", "Nothing more"),
        ("", "All of it", "All of it"),
    ],
)
def test_the_text_reads_as_if_it_had_never_stopped(kept: str, said: str, whole: str) -> None:
    assert kept + after(kept, said) == whole
    assert joined(kept, list(said)) == whole


@given(words, st.data())
def test_what_is_repeated_is_said_once(text: str, data: st.DataObject) -> None:
    starts = [0, *(at + 1 for at, letter in enumerate(text) if letter == " ")]
    cut = data.draw(st.integers(3, len(text) - 1))
    begin = data.draw(st.sampled_from([at for at in starts if cut - at >= 3]))
    kept = text[:cut]
    assert kept + after(kept, text[begin:]) == text


@given(st.text(max_size=40), st.lists(st.text(max_size=8), max_size=8))
def test_pieces_do_not_matter_and_nothing_new_is_lost(kept: str, pieces: list[str]) -> None:
    said = "".join(pieces)
    whole = joined(kept, pieces)
    assert whole == (kept + after(kept, said) if kept else said)
    assert whole.startswith(kept)
    new = said.strip()[repeated_length(kept.rstrip(), said.lstrip()) :]
    assert whole.rstrip().endswith(new.strip())


@given(st.text("ab \n", max_size=30), st.text("ab \n", max_size=30))
def test_what_counts_as_repeated_stands_at_the_end_of_the_one_and_the_beginning_of_the_other(
    kept: str, said: str
) -> None:
    length = repeated_length(kept, said)
    assert length == 0 or (length >= 3 and kept[-length:] == said[:length])


def test_a_model_repeats_a_few_words_of_the_last_line() -> None:
    assert last_words("One line\nthe pump failed in March and Ma") == "pump failed in March and Ma"
    assert last_words("so the pump failed in March and Ma") == "pump failed in March and Ma"
    assert last_words("- one\n- two words\n") == "- two words"
    assert last_words(" \n") == ""
