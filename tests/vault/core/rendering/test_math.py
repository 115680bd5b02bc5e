"""Formulas become MathML, and whatever is none stays as it was written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vault.core.rendering.page import Page
from vault.core.rendering import render_note, sanitise
from vault.core.rendering.math import LONGEST_FORMULA, render_math


def test_inline_and_display_say_what_they_are() -> None:
    assert Page(render_math("x^2", is_display=False)).all("math")[0]["display"] == "inline"
    assert Page(render_math("x^2", is_display=True)).all("math")[0]["display"] == "block"


@pytest.mark.parametrize(
    "latex",
    ["\\left( x", "x" * (LONGEST_FORMULA + 1), "{" * 100 + "x" + "}" * 100],
)
def test_what_cannot_be_read_stays_as_written(latex: str) -> None:
    page = Page(render_math(latex, is_display=False))
    assert page.all("math") == []
    assert page.text == latex


@pytest.mark.parametrize(
    "latex",
    [
        "\\href{javascript:alert(1)}{x}",
        "\\href{https://evil.example}{x}",
        "\\style{background:url(//evil.example)}{x}",
        "\\class{live}{x}",
        "\\text{<script>alert(1)</script>}",
        "\\unicode{60}script",
    ],
)
def test_a_formula_cannot_act(latex: str) -> None:
    page = Page(sanitise(render_math(latex, is_display=False)))
    assert page.live == []
    assert not [attrs for _, attrs in page.elements if "href" in attrs]


@settings(max_examples=150, deadline=None)
@given(st.text("\\{}^_&$ abx12+-fracsqrt<>%#", max_size=30))
def test_any_text_between_dollars_gives_a_page(latex: str) -> None:
    assert Page(sanitise(render_math(latex, is_display=True))).live == []


@pytest.mark.parametrize(
    ("body", "formulas"),
    [
        ("$x$", 1),
        ("$ x $", 0),
        ("$5 and $10", 0),
        ("costs 5$ or 10$", 0),
        ("$x$ and $y$", 2),
        ("`$x$`", 0),
        ("\\$x$", 0),
        ("$$\nx\n$$", 1),
        ("a $$x$$ b", 1),
        ("$$\nx", 0),
        ("[[$x$]]", 0),
    ],
)
def test_what_is_a_formula(body: str, formulas: int) -> None:
    assert len(Page(render_note(body).html).all("math")) == formulas


@pytest.mark.parametrize(
    ("latex", "rows"),
    [
        (r"\begin{aligned} a &= 1 \\ b &= 2 \end{aligned}", 2),
        (r"\begin{alignedat}{2} a &= 1 & c &= 3 \\ b &= 2 & d &= 4 \end{alignedat}", 2),
        (r"\begin{gathered} a \\ b \\ c \end{gathered}", 3),
        (r"\begin{gather*} a \\ b \end{gather*}", 2),
        (r"\begin{dcases} 1 & x > 0 \\ 0 & x < 0 \end{dcases}", 2),
        (r"\begin{align} a &= 1 \end{align}", 1),
    ],
)
def test_aligned_lines_stand_under_each_other(latex: str, rows: int) -> None:
    page = Page(sanitise(render_math(latex, is_display=True)))
    assert len(page.all("mtr")) == rows
    assert "&" not in page.text
