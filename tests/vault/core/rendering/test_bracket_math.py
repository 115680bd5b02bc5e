"""Formulas between brackets: in answers, not in notes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.core.rendering import answer_parser, note_parser

ANSWERS = answer_parser()


def kinds(text: str) -> list[str]:
    tokens = [t for token in ANSWERS.parse(text) for t in (token, *(token.children or ()))]
    return [token.type for token in tokens if token.type.startswith("math")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\(x\)", ["math_inline"]),
        (r"a \[x\] b", ["math_inline_double"]),
        (r"\[x\]", ["math_block"]),
        ("\\[\nx\n\n\\]", []),
        ("\\[\nx\n\\]", ["math_block"]),
        ("a\n\\[\n+ x\n\\]\nb", ["math_block"]),
        ("- a\n\n  \\[\n  x\n  \\]", ["math_block"]),
        ("- a\n  \\[\nb\n\\]", ["math_inline_double"]),
        ("    \\[x\\]", []),
        (r"\(\)", []),
        (r"\\(x\\)", []),
    ],
)
def test_a_formula_is_what_stands_between_its_brackets(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected


def test_in_a_note_they_are_escaped_brackets() -> None:
    assert "math" not in str(note_parser().parse(r"\(x\) \[x\]", {}))


@given(st.text(alphabet="ab \n\\[]()->$1.", max_size=60))
def test_any_text_is_parsed_to_its_end(text: str) -> None:
    lines = [token.map for token in ANSWERS.parse(text) if token.map]
    assert all(0 <= start < end <= text.count("\n") + 1 for start, end in lines)
