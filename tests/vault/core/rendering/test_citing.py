"""The cited words are marked, whatever syntax the span begins or ends in."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vault.core.rendering.page import Page
from vault.core.rendering import render_note

BODY = """# Title

Plain words with **bold text** and a [link text](https://example.org/path) here.
Second line of it.

> quoted words
> > deeper quoted words

- item one
- [x] task two
    - nested three

| left | right |
|------|-------|
| cell a | cell **b** |
| a \\| pipe | last |

```python
def answer():
    return 42
```

    indented code

> [!note]- Folded
> hidden words

1. numbered [[Plan|alias words]]

Formula $x^2$ inline. %%a comment%%

A claim[^1].

[^1]: The footnote words.
"""


def cited(body: str, start: int, end: int) -> str:
    return Page(render_note(body, highlight=(start, end)).html).cited


def cited_text(words: str, body: str = BODY) -> str:
    start = body.index(words)
    return cited(body, start, start + len(words))


@pytest.mark.parametrize(
    "words",
    ["Plain words", "words with", "text", "Second line", "quoted words", "deeper quoted",
     "item one",
     "task two", "nested three", "cell a", "last", "return 42", "indented code", "hidden words",
     "alias words", "footnote words", "claim", "left", "here."],
)  # fmt: skip
def test_exactly_the_words_are_marked(words: str) -> None:
    assert cited_text(words) == words


@pytest.mark.parametrize(
    ("span", "marked"),
    [
        ("with **bold text** and", "with bold text and"),
        ("ld text** and a [link", "ld text and a link"),
        ("*bold text*", "bold text"),
        ("text](https://example", "text"),
        ("path) here", " here"),
        ("cell a | cell **b** |", "cell acell b"),
        ("a \\| pipe", "a | pipe"),
        ("- item one\n- [x] task two", "item onetask two"),
        ("> quoted words\n> > deeper", "quoted wordsdeeper"),
        ("[[Plan|alias", "alias"),
        ("# Title\n\nPlain", "TitlePlain"),
    ],
)
def test_a_span_that_cuts_syntax_marks_the_words_in_it(span: str, marked: str) -> None:
    assert cited_text(span) == marked


def test_a_span_inside_a_formula_marks_the_formula() -> None:
    assert cited_text("^2") == "x2"
    assert cited_text("x^") == "x2"


def test_a_span_inside_a_comment_still_has_a_place_to_jump_to() -> None:
    html = render_note(BODY, highlight=(BODY.index("a comment"), BODY.index("a comment") + 4)).html
    assert html.count('id="cited"') == 1


def test_the_first_mark_is_the_one_to_jump_to() -> None:
    html = render_note(BODY, highlight=(0, len(BODY))).html
    assert html.count('id="cited"') == 1
    assert html.index('id="cited"') == html.index("<mark") + len("<mark ")


def test_a_folded_callout_opens_when_it_is_cited() -> None:
    start = BODY.index("hidden")
    assert "open" in Page(render_note(BODY, highlight=(start, start + 6)).html).all("details")[0]
    assert "open" not in Page(render_note(BODY, highlight=(10, 20)).html).all("details")[0]


def test_a_span_that_makes_no_sense_marks_nothing() -> None:
    for span in ((5, 5), (9, 3), (10_000, 20_000), (-5, 0)):
        rendered = render_note(BODY, highlight=span)
        assert not rendered.is_cited
        assert "<mark" not in rendered.html


def test_private_characters_of_the_note_stay() -> None:
    body = "icon \U000f0000 and **words** here"
    rendered = render_note(body, highlight=(7, 14))
    assert "\U000f0000" in rendered.html
    assert Page(rendered.html).text.strip() == "icon \U000f0000 and words here"


WORDS = st.lists(st.text("abcdeäжｘ", min_size=1, max_size=6), min_size=1, max_size=8).map(" ".join)
PLAIN = st.lists(WORDS, min_size=1, max_size=4)
PIECES = st.sampled_from(
    ["**", "_", "`", "[", "](", ")", "[[", "|", "]]", "\n", "\n\n", "> ", "- ", "- [x] ", "1. ",
     "```\n", "$", "$$\n", "==", "%%", "#", "# ", "^id", "[^1]", "\n[^1]: ",
     "| a | b |\n|---|---|\n",
     "![", "<!--", "-->", "~~", "\\", "&amp;", "<br>", "https://e.org", "    ", "> [!note]- ", "\t",
     "***", "---", "===\n", "\U000f0000", "⟦secret:jwt⟧"]
)  # fmt: skip
WILD = st.lists(PIECES | st.text("ab cж", max_size=5), max_size=30).map("".join)


@settings(max_examples=150, deadline=None)
@given(PLAIN, st.data())
def test_in_plain_paragraphs_the_marked_text_is_the_span(
    paragraphs: list[str], data: st.DataObject
) -> None:
    body = "\n\n".join(paragraphs)
    start = data.draw(st.integers(0, len(body) - 1))
    end = data.draw(st.integers(start + 1, len(body)))
    expected = body[start:end].strip()
    if expected:
        assert re.sub(r"\s", "", cited(body, start, end)) == re.sub(r"\s", "", expected)
        if "\n" not in expected:
            assert cited(body, start, end).strip() == expected


@settings(max_examples=300, deadline=None)
@given(WILD, st.integers(0, 120), st.integers(0, 120))
def test_marking_never_changes_or_adds_text(body: str, start: int, end: int) -> None:
    plain = Page(render_note(body).html)
    marked = render_note(body, highlight=(start, end))
    page = Page(marked.html)
    assert page.text == plain.text
    assert page.live == []
    private = {character for character in marked.html if ord(character) >= 0xF0000}
    assert private <= {"\U000f0000"}
    assert marked.html.count('id="cited"') == int(marked.is_cited)
