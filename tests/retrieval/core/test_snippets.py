"""Snippets show the matched words, marked in the right places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.snippets import SNIPPET_LENGTH, Snippet, make_snippet

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
    snippet = make_snippet(content, terms)
    bare = snippet.text.removeprefix("…") if snippet.text not in content else snippet.text
    assert bare.removesuffix("…").strip() in " ".join(content.split()) or bare in " ".join(
        content.split()
    )


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
