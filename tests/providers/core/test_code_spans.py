"""Where text that is still being written is code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.core.code_spans import CodeTracker


def after(*pieces: str) -> CodeTracker:
    tracker = CodeTracker()
    for piece in pieces:
        tracker.advance(piece)
    return tracker


@pytest.mark.parametrize(
    ("text", "is_in_code"),
    [
        ("", False),
        ("plain", False),
        ("a `b", True),
        ("a `b`", False),
        ("a `", True),
        ("``a ` b", True),
        ("``a ` b``", False),
        ("a `b\nc", True),
        ("a `b\n\nc", False),
        ("```\n", True),
        ("```py\ncode\n", True),
        ("```\ncode\n```\n", False),
        ("```\ncode\n````\n", False),
        ("````\ncode\n```\n", True),
        ("~~~\ncode\n```\n", True),
        ("~~~\ncode\n~~~\n", False),
        ("   ```\ncode\n", True),
        ("    ```\nno fence", True),
        ("text ```\nstill a span", True),
        ("text ~~~\nno fence", False),
        ("```\n\n\nblank lines do not end a fence", True),
    ],
)
def test_in_code(text: str, *, is_in_code: bool) -> None:
    assert after(text).is_in_code is is_in_code
    assert after(*text).is_in_code is is_in_code


@pytest.mark.parametrize(
    ("text", "is_start"),
    [
        ("", True),
        ("   ", True),
        ("    ", False),
        ("\t", False),
        ("a", False),
        ("a\n", True),
        ("a\n  ", True),
        ("`", False),
    ],
)
def test_at_the_start_of_a_line(text: str, *, is_start: bool) -> None:
    assert after(text).is_at_line_start is is_start


@given(st.lists(st.text(alphabet="a`~ \n\t", max_size=12), max_size=6))
def test_where_pieces_are_cut_makes_no_difference(pieces: list[str]) -> None:
    whole, cut = after("".join(pieces)), after(*pieces)
    assert (whole.is_in_code, whole.is_at_line_start) == (cut.is_in_code, cut.is_at_line_start)
