"""Which part of a note an embed shows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.core.embeds import embedded_span, excerpt_end, shown_text
from vault.core.markdown import parse_markdown
from vault.core.tokens import estimate_tokens

NOTE = """# Pump

Intro ^intro

## Drill

Pull the lever.

### Deep

Water.

## End

- one
- two
  more of two ^item
- three

| a | b |
|---|---|
| 1 | 2 |

^table

> quoted
> words ^q-1
"""


def shown(anchor: str, text: str = NOTE) -> str | None:
    note = parse_markdown(text, path="a.md")
    headings = [
        {"level": h.level, "text": h.text, "start": h.start, "line": h.line} for h in note.headings
    ]
    span = embedded_span(note.body, headings, anchor)
    return None if span is None else note.body[slice(*span)].strip()


@pytest.mark.parametrize(
    ("anchor", "part"),
    [
        ("", NOTE.strip()),
        ("Drill", "## Drill\n\nPull the lever.\n\n### Deep\n\nWater."),
        ("Drill#Deep", "### Deep\n\nWater."),
        ("drill", "## Drill\n\nPull the lever.\n\n### Deep\n\nWater."),
        ("^intro", "Intro"),
        ("^item", "- two\n  more of two"),
        ("^table", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("^q-1", "> quoted\n> words"),
        ("Nowhere", None),
        ("^nowhere", None),
        ("^", None),
    ],
)
def test_a_heading_gives_its_section_and_a_block_id_its_block(anchor: str, part: str) -> None:
    assert shown(anchor) == part


def test_a_block_id_at_the_top_names_nothing() -> None:
    assert shown("^x", "^x\n\nText.") is None


def test_what_is_hidden_is_not_shown() -> None:
    part = "---\nOne %%not this%% two\n\n%%\nnor this\n%%\n<!-- nor -->\nthree"
    assert shown_text(part).split() == ["---", "One", "two", "three"]


@given(st.text(alphabet="# ^ab-\n%", max_size=60), st.sampled_from(["", "a", "^a", "b#a", "^ab"]))
def test_any_part_of_any_note_lies_inside_it(text: str, anchor: str) -> None:
    note = parse_markdown(text, path="n.md")
    headings = [
        {"level": h.level, "text": h.text, "start": h.start, "line": h.line} for h in note.headings
    ]
    span = embedded_span(note.body, headings, anchor)
    assert span is None or 0 <= span[0] <= span[1] <= len(note.body)
    shown_text(note.body[slice(*span)] if span else "")


@given(st.text(max_size=300), st.integers(0, 80))
def test_an_excerpt_has_no_more_tokens_than_allowed_and_all_when_it_fits(
    text: str, most: int
) -> None:
    end = excerpt_end(text, most_tokens=most)
    assert estimate_tokens(text[:end]) <= most or not text[:end].strip()
    assert end == len(text) or estimate_tokens(text) > most


def test_an_excerpt_ends_after_a_word() -> None:
    text = "several words about a pump " * 20
    assert text[: excerpt_end(text, most_tokens=30)].split()[-1] in text.split()
    assert excerpt_end(text, most_tokens=5) == 0
