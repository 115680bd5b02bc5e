"""Citation marks, and the sentences that bear statements out."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.core.citations import (
    LONGEST_QUOTE,
    Quotable,
    cite,
    find_markers,
    find_quote,
    is_marker,
    sentence_of,
    sentence_spans,
    without_markers,
)

PUMP = "# Pump\n\n- The pump failed in March.\n- It was repaired in three hours.\n\nNothing else."


def passage(text: str = PUMP, *, number: int = 1, start: int = 100) -> Quotable:
    return Quotable(number, "Pump", text, start, start + len(text), "/vaults/t/notes/Pump.md", 7)


def numbers(text: str, *, passages: int = 3) -> list[tuple[int, ...]]:
    return [m.numbers for m in find_markers(text, exists=lambda n: 1 <= n <= passages)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A [1][2].", [(1,), (2,)]),
        ("B [1, 2].", [(1, 2)]),
        ("C [1，3] and [1、2；3].", [(1, 3), (1, 2, 3)]),
        ("D [1-3] and [1–2].", [(1, 2, 3), (1, 2)]),
        ("E 【2】 and ［３］.", [(2,), (3,)]),
        ("F [2][2].", [(2,), (2,)]),
        ("G [03].", [(3,)]),
        ("H [^1] and [[2]].", [(1,), (2,)]),
        ("I 【1†notes】.", [(1,)]),
        ("J [ 1 ,2 ].", [(1, 2)]),
        ("K [1, 1].", [(1,)]),
    ],
)
def test_marks_are_recognised_in_every_form(text: str, expected: list[tuple[int, ...]]) -> None:
    assert numbers(text) == expected


@pytest.mark.parametrize("mark", ["-1", "1.2", "2024", "99999999999999999999", "", "x", " ", "1,"])
def test_what_is_no_number_of_a_passage_is_text(mark: str) -> None:
    assert numbers(f"see [{mark}].") == []


@pytest.mark.parametrize("mark", ["7", "0", "12", "1-7", "3-1", "8, 9"])
def test_a_mark_that_names_no_passage_was_invented(mark: str) -> None:
    assert numbers(f"see [{mark}].") == [()]


def test_a_bracket_right_after_a_word_is_no_invented_mark() -> None:
    assert numbers("take row[7] of it") == []


def test_of_a_list_only_what_exists_is_named() -> None:
    assert numbers("see [2, 9].") == [(2,)]


@given(st.text(alphabet="0123456789[]【】［］,，-–.^† \nab１２３", max_size=60))
def test_no_text_names_a_passage_that_does_not_exist(text: str) -> None:
    markers = find_markers(text, exists=lambda n: n in {1, 2, 3})
    assert all(number in {1, 2, 3} for marker in markers for number in marker.numbers)
    ends = [(marker.start, marker.end) for marker in markers]
    assert ends == sorted(ends)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(ends))


def test_earlier_marks_are_taken_out_whatever_they_name() -> None:
    assert without_markers("It failed [1][99]. It ran 【2】, arr[x].") == (
        "It failed. It ran, arr[x]."
    )


def test_a_label_of_digits_is_a_mark() -> None:
    assert is_marker("2")
    assert is_marker("1, 2")
    assert not is_marker("the site")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One thing. The pump failed [1]. Another.", "The pump failed."),
        ("One thing. The pump failed. [1] Another.", "The pump failed."),
        ("[1] The pump failed. Another.", "The pump failed."),
        ("The pump [1] failed in March. Another.", "The pump failed in March."),
        ("Es hielt.\nDie Pumpe fiel aus [1]", "Die Pumpe fiel aus"),
        ("ポンプは三月に故障した。修理は三時間[1]。", "修理は三時間。"),
    ],
)
def test_a_mark_belongs_to_its_sentence(text: str, expected: str) -> None:
    markers = find_markers(text, exists=lambda n: n == 1)
    assert sentence_of(text, markers, markers[0]) == expected


def test_the_quote_is_the_sentence_that_bears_the_statement_out() -> None:
    quote = find_quote(passage(), "Repairing it took three hours")
    assert quote.text == "It was repaired in three hours."
    assert PUMP[quote.start - 100 : quote.end - 100] == quote.text
    assert not quote.weak


def test_a_statement_that_the_passage_does_not_hold_is_weak() -> None:
    quote = find_quote(passage(), "Elephants remember their grandmothers fondly")
    assert quote.weak
    assert (quote.start, quote.end) == (100, 100 + len(PUMP))


def test_a_translation_is_not_called_weak() -> None:
    assert not find_quote(passage(), "Насос вийшов з ладу в березні").weak
    german = "Die Pumpe ist im März ausgefallen und wurde nicht mehr repariert"
    assert not find_quote(passage(), german).weak


def test_text_that_is_not_letter_by_letter_in_the_note_is_quoted_as_a_whole() -> None:
    shortened = Quotable(1, "Pump", "The pump failed.", 0, 500, "/n", 7)
    quote = find_quote(shortened, "The pump failed")
    assert (quote.start, quote.end) == (0, 500)


def test_the_address_opens_the_note_at_the_quote() -> None:
    citation = cite(passage(), "The pump failed in March")
    assert citation.url == (
        f"/vaults/t/notes/Pump.md?span={citation.quote.start}-{citation.quote.end}&source=7"
    )
    assert citation.as_json()["n"] == 1


@given(st.text(max_size=300), st.text(max_size=80))
def test_a_quote_lies_within_its_passage(text: str, statement: str) -> None:
    quote = find_quote(passage(text), statement)
    assert 100 <= quote.start <= quote.end <= 100 + len(text)
    assert len(quote.text) <= LONGEST_QUOTE


@given(st.text(alphabet="ab.!?。\n -#|>1", max_size=80))
def test_sentences_lie_in_order_and_are_not_empty(text: str) -> None:
    spans = sentence_spans(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))


def test_a_quote_is_named_by_the_headings_it_stands_under() -> None:
    text = "Intro.\n\n## Failure\n\nThe pump failed in March.\n\n## Repair\n\nAnn repaired it."
    outline = (
        (100, ("Pump",)),
        (100 + text.index("## Failure"), ("Pump", "Failure")),
        (100 + text.index("## Repair"), ("Pump", "Repair")),
    )
    pump = Quotable(1, "Pump", text, 100, 100 + len(text), "/n", 7, "Team", outline)
    assert cite(pump, "The pump failed in March.").headings == ("Failure",)
    assert cite(pump, "It was repaired by Ann.").headings == ("Repair",)
    assert pump.headings_at(100) == ()
    assert Quotable(1, "Pump", text, 0, len(text), "/n", 7).headings_at(5) == ()
