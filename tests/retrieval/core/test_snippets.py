"""Snippets show the matched words, marked in the right places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.snippets import (
    CODE_LINES,
    SNIPPET_LENGTH,
    Snippet,
    code_snippet,
    make_snippet,
    plain_text,
)

TEXTS = st.text(st.characters(codec="utf-8"), max_size=600)


def marked(snippet: Snippet) -> list[str]:
    return [snippet.text[start:end] for start, end in snippet.marks]


@given(TEXTS, st.lists(st.text(max_size=12), max_size=4))
def test_marks_are_ordered_apart_and_inside(content: str, terms: list[str]) -> None:
    snippet = make_snippet(content, terms)
    assert len(snippet.text) <= SNIPPET_LENGTH
    position = 0
    for start, end in snippet.marks:
        assert position <= start < end <= len(snippet.text)
        position = end


@given(TEXTS, st.lists(st.text(max_size=12), max_size=4))
def test_a_snippet_is_a_piece_of_the_text(content: str, terms: list[str]) -> None:
    text, snippet = plain_text(content), make_snippet(content, terms).text
    pieces = {snippet, snippet[1:], snippet[:-1], snippet[1:-1]}
    assert any(piece in text for piece in pieces)


@given(TEXTS)
def test_plain_text_is_one_line_and_invents_no_letter(content: str) -> None:
    text = plain_text(content)
    assert text == " ".join(text.split())
    assert sum(map(str.isalnum, text)) <= sum(map(str.isalnum, content))


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("# Pumps\n\n## May\n\nThe **blue** pump.", "The blue pump."),
        ("# Only a heading", "Only a heading"),
        ("- [ ] call [[People/Mira|her]]\n- see [[Pumps]]", "call her see Pumps"),
        ("> [!note] 1 < 2\n> a ~~b~~ ==c==", "1 < 2: a b c"),
        ("> [!tip]- Ready?\n>> [!note]\n>> Start.", "Ready? Start."),
        ("see [the page](https://example.com/a) and `rm -rf`", "see the page and rm -rf"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "a · b 1 · 2"),
        ("# Code\n\n```python\n# why\nx * y * z\n```\n\n# End\n", "# why x * y * z"),
        ("user_name stays, 2*3*4 too?", "user_name stays, 2*3*4 too?"),
    ],
)
def test_marks_of_markdown_are_left_out(markdown: str, plain: str) -> None:
    assert plain_text(markdown) == plain


def test_the_stretch_with_most_matches_is_shown() -> None:
    content = "pump. " + "nothing here at all " * 40 + "The blue pump is serviced in May."
    snippet = make_snippet(content, ["blue", "pump", "May"])
    assert marked(snippet) == ["blue", "pump", "May"]
    assert snippet.text.startswith("…")


def test_a_short_text_is_shown_whole() -> None:
    assert make_snippet("One\n\n line.", []) == Snippet("One line.")


@pytest.mark.parametrize(
    ("content", "term", "expected"),
    [
        ("Exports of payrolls", "payroll", ["payrolls"]),
        ("the payroll export", "exporting", ["export"]),
        ("Café Céüse", "ceuse", ["Céüse"]),
        ("in the info", "in", ["in"]),
        ("这是中文合約轉換", "合約", ["合約"]),
        ("パンダ と ハンタ", "ハンタ", ["ハンタ"]),
        ("мой план", "мои", []),
        ("Use --exclude here", "--exclude", ["exclude"]),
    ],
)
def test_words_match_by_stem_without_case_and_accents(
    content: str, term: str, expected: list[str]
) -> None:
    assert marked(make_snippet(content, [term])) == expected


def test_a_table_reads_as_words() -> None:
    table = "| Command | What it does |\n| --- | --- |\n| `up` | starts it |\n"
    assert plain_text(table) == "Command · What it does up · starts it"


CODE = """class Pump:

    def start(self) -> None:
        self.valve.open()
        for seal in self.seals:
            seal.check()

        self.motor.run(speed=3)
"""


def test_of_code_the_lines_with_most_matches_are_shown_without_their_indent() -> None:
    snippet = code_snippet(CODE, ["seal", "check"])
    assert snippet.text.splitlines() == [
        "def start(self) -> None:",
        "    self.valve.open()",
        "    for seal in self.seals:",
        "        seal.check()",
    ]
    last = code_snippet(CODE, ["seal", "motor"])
    assert last.text.splitlines()[0] == "self.valve.open()"
    assert marked(last) == ["seal", "seals", "seal", "motor"]


def test_a_long_line_of_code_is_cut() -> None:
    assert code_snippet("x = " + "9" * 500, []).text.endswith("9…")


@given(TEXTS, st.lists(st.text(max_size=12), max_size=4))
def test_marks_of_code_are_ordered_apart_and_inside(content: str, terms: list[str]) -> None:
    snippet = code_snippet(content, terms)
    assert len(snippet.text.splitlines()) <= CODE_LINES
    position = 0
    for start, end in snippet.marks:
        assert position <= start < end <= len(snippet.text)
        position = end
