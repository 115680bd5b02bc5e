"""Marks in a text, in every form that models use; code, formulas and links are none."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.core.marks import find_markers, is_marker, split_prose, without_invented, without_markers


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
        ("L [1 and 2].", [(1, 2)]),
        ("M [1, 2, and 3] and [1 & 2].", [(1, 2, 3), (1, 2)]),
        ("N [Source 1], [source: 2] and [Passages 1-3].", [(1,), (2,), (1, 2, 3)]),
        ("O [Quelle 1 und 2].", [(1, 2)]),
        ("P [Источник 1 и 3].", [(1, 3)]),
        ("Q 【1:0†source】 and 【2†L5-L9】.", [(1,), (2,)]),
        ("R [1‑3] and [1‐2].", [(1, 2, 3), (1, 2)]),
        ("S [#2].", [(2,)]),
        ("T 【来源 1、2】 [1和2].", [(1, 2), (1, 2)]),
        ("U failed[1].", [(1,)]),
        ("水泵在三月出现故障[1]。", [(1,)]),
    ],
)
def test_marks_are_recognised_in_every_form(text: str, expected: list[tuple[int, ...]]) -> None:
    assert numbers(text) == expected


@pytest.mark.parametrize(
    "mark",
    ["-1", "1.2", "2024", "99999999999999999999", "", "x", " ", "1,", "0, 1", "1 of 2", "9:30"],
)
def test_what_is_no_number_of_a_passage_is_text(mark: str) -> None:
    assert numbers(f"see [{mark}].") == []


@pytest.mark.parametrize(
    "mark",
    ["7", "0", "12", "100", "1-7", "1‑7", "3-1", "8, 9", "8 and 9", "Source 9", "#9", "7, 8, or 9"],
)
def test_a_mark_that_names_no_passage_was_invented(mark: str) -> None:
    assert numbers(f"see [{mark}].") == [()]


@pytest.mark.parametrize(
    "text",
    [
        "The pump failed in March[9].",
        "The pump failed in March[9][8].",
        "水泵在三月出现故障[9]。",
        "ポンプは三月に故障した[9]。",
        "펌프가 고장났다[9].",
        "ปั๊มเสีย[9]",
        "March[9]",
        "v1.2[9]",
        "take row[9] of it",
        "【9:0†source】",
        "［９］",
    ],
)
def test_an_invented_mark_needs_no_space_before_it_in_any_script(text: str) -> None:
    assert set(numbers(text)) == {()}


@pytest.mark.parametrize(
    "text",
    [
        "row[7] = 2",
        "row[7]=2",
        "x[1] += 2",
        "rows[1].name",
        "f[1](x)",
        "rows[1][2].name",
        "a[1][i]",
    ],
)
def test_an_index_is_no_mark(text: str) -> None:
    assert numbers(f"see {text} there") == []


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
    kept = (
        "Of [2024]: `x[1]`, $x[1]$, \\(x[1]\\), [1](https://example.org), x[1] = 2.\n```\nx[1]\n```"
    )
    assert without_markers(kept) == kept


def test_a_label_of_digits_is_a_mark() -> None:
    assert is_marker("2")
    assert is_marker("1, 2")
    assert not is_marker("the site")


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("A [9].\n```\nx [9]\n```\nB [9].", "A.\n```\nx [9]\n```\nB."),
        ("> ~~~\n> x [9]\n> ~~~\n\nB [9].", "> ~~~\n> x [9]\n> ~~~\n\nB."),
        ("$$\nx [9]\n$$\nB [9].", "$$\nx [9]\n$$\nB."),
        ("\\[\nx [9]\n\\]\nB [9].", "\\[\nx [9]\n\\]\nB."),
        ("`` a ` [9] `` b [9]", "`` a ` [9] `` b"),
        ("It costs $5 [9] and $6 [1].", "It costs $5 and $6 [1]."),
        ("A [1, 9]. B [1 and 9], C [7-9].", "A [1]. B [1], C."),
        ("- [x] done [9]\n- [ ] open [1]", "- [x] done\n- [ ] open [1]"),
    ],
)
def test_marks_are_taken_out_of_prose_alone(text: str, clean: str) -> None:
    assert without_invented(text, numbers={1}) == clean


@given(st.text(alphabet="a1 \n`~$\\[]()!>-", max_size=60))
def test_the_pieces_of_a_text_are_all_of_it(text: str) -> None:
    assert "".join(piece for piece, _ in split_prose(text)) == text
