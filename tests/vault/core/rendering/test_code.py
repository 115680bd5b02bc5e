"""Code keeps every character, coloured or not, cited or not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vault.core.rendering.page import Page
from vault.core.rendering import code as module
from vault.core.rendering import highlight_code

LANGUAGES = ["python", "js", "html", "sql", "bash", "yaml", "diff", "", "no-such", "PYTHON", "c++"]


def shown(html: str, language: str) -> str:
    """The code on the page, without the name of its language."""
    return Page(html).text.removeprefix(language[: module.LONGEST_LABEL]).removesuffix("\n")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "code", ["", "x", "  x\n\n", "\n\nx", "a\tb\n", "<b>&amp;</b>", "é\u2028x"]
)
def test_no_character_is_lost_or_added(language: str, code: str) -> None:
    assert shown(highlight_code(code, language), language) == code


@settings(max_examples=120, deadline=None)
@given(
    code=st.text("ab=(){}\n \"'#<>&-+0", max_size=60),
    language=st.sampled_from(LANGUAGES),
    start=st.integers(0, 60),
    length=st.integers(0, 30),
)
def test_exactly_the_cited_characters_are_marked(
    code: str, language: str, start: int, length: int
) -> None:
    page = Page(highlight_code(code, language, cited=(start, start + length)))
    assert page.cited == code[start : start + length]
    assert page.live == []


def test_a_known_language_is_coloured_by_class() -> None:
    page = Page(highlight_code("def f(): return 1", "python"))
    assert page.with_class("k")
    assert page.with_class("nf")
    assert not [attrs for _, attrs in page.elements if "style" in attrs]


def test_long_code_is_shown_without_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_COLOURED", 10)
    assert Page(highlight_code("return 1234567", "python")).all("span") == []


def test_a_language_is_only_a_label() -> None:
    page = Page(highlight_code("x", '"><script>alert(1)</script>' * 3))
    assert page.live == []
    assert page.text.startswith('"><script>')
    assert len(page.text) <= module.LONGEST_LABEL + 2


def test_a_code_block_can_be_scrolled_by_keyboard() -> None:
    assert Page(highlight_code("x", "")).all("pre")[0]["tabindex"] == "0"
