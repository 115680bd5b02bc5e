"""Words as they are told: no mark that names no passage leaves, however a text is cut."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chat.core.clean_words import CleanWords
from chat.core.marks import without_invented

_PIECES = st.lists(
    st.sampled_from(
        [
            "a",
            " ",
            "\n",
            "[1]",
            "[9]",
            "[",
            "]",
            "9",
            "1",
            "`",
            "```",
            "~~~",
            "(",
            ")",
            "【1†",
            "】",
            "$",
            "\\(",
            "\\)",
            "\\[",
            "\\]",
            "x[9]",
            "x",
            " = ",
            ".",
            "[Source 9]",
            "[1, 9]",
            "[9][1",
            " and ",
        ]
    )
    | st.text(max_size=3),
    max_size=30,
)


@example(["[", "[9]", "a"])
@given(_PIECES)
def test_however_an_answer_is_cut_its_words_are_the_same(pieces: list[str]) -> None:
    whole, cut = CleanWords({1, 2}), CleanWords({1, 2})
    at_once = whole.push("".join(pieces)) + whole.finish()
    assert "".join([cut.push(piece) for piece in pieces] + [cut.finish()]) == at_once


def test_without_passages_every_mark_was_invented() -> None:
    words = CleanWords()
    assert words.push("It failed [1], see `x[1]` [Source 2].") + words.finish() == (
        "It failed, see `x[1]`."
    )


@pytest.mark.parametrize(
    "text",
    [
        "It failed [7]. `row[9]` stays. [2]",
        "Plain words, and more of them \n\n- [9] an item [1]\n\n```\n[9]\n```\nend [1, 9]  ",
        "In **March** [Source 9], see [docs](https://example.org/x) and 【9†source】.",
    ],
)
def test_what_is_told_is_what_is_kept(text: str) -> None:
    words = CleanWords({1, 2})
    told = "".join([words.push(letter) for letter in text] + [words.finish()])
    assert told == without_invented(text, numbers={1, 2})


def test_only_what_may_be_a_mark_is_held_back() -> None:
    words = CleanWords({1, 2})
    assert [words.push(piece) for piece in ("It ", "failed", " [", "1", "]", ". It")] == [
        "It", " failed", "", "", "", " [1]. It",
    ]  # fmt: skip
