"""A growing answer as blocks: at its end it is what the stored text renders to."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.core.blocks import Block, BlockStream, hold_back
from chat.core.citations import Quotable
from chat.core.rendering import render_answer
from tests.chat.core.test_rendering import HOSTILE, THREE

SAMPLES = [
    "$$ a\n\nb $$\n\nafter $$x$$ and $y$\n\n- $$\n  c\n\n  d\n  $$\n\nend",
    "Intro [1].\n\n# Heading\n\n- a [2]\n- b\n\n  more of b\n\n1. one\n2. two\n\nEnd.",
    "para\n===\n\nother\n---\n\n> quote\n> more\nlazy\n\n***\n",
    "```python\ndef f():\n\n    return [1]\n```\nafter [2]\n\n    indented\n\n\n    code\n\nx",
    "a | b\n--|--\n1 | [2]\n\ntext\na | b\n--|--\nx | y\n",
    "- a\n* b\n+ c\n\n  d\n1) x\n2) y\n",
    "~~~\nnever closed\n\n[1]\n",
    "one [docs](https://example.org/x) two ![i](https://e.org/i.png) <https://a.org> [1, 2]!",
    "[1]: not a definition\n\n[1] [2](https://example.org/x)\n\nпривет [3]。終わり【1】",
    "So \\( x[1] = 2 \\) [1].\n\\[\na [2]\n- b\n= c\n\\]\nafter",
    "- \\[\n  x\n  \\]\n\n\\[\nnever\n\n- closed",
    "> [!note]- Title [1]\n> text of it, that goes on\n>\n> - [x] done [2]\nlazy\n\n> [!tip]\n\nx",
    "終わり【1】【2】。[3] And **so**[1], `b` [2]: c [1] [2][3]\n",
    *HOSTILE,
]


class Page:
    """What a browser shows: blocks by index."""

    def __init__(self) -> None:
        self.blocks: dict[int, Block] = {}

    def apply(self, blocks: list[Block]) -> None:
        for block in blocks:
            before = self.blocks.get(block.index)
            assert before is None or not before.closed, "a closed block never changes"
            assert block.index <= len(self.blocks), "blocks come in order"
            self.blocks[block.index] = block

    @property
    def html(self) -> str:
        return "".join(self.blocks[index].html for index in sorted(self.blocks))


def streamed(text: str, cuts: list[int]) -> Page:
    stream, page, at = BlockStream(THREE), Page(), 0
    for cut in [*cuts, len(text)]:
        stream.push(text[at:cut])
        page.apply(stream.changed())
        at = cut
    page.apply(stream.finish())
    assert all(block.closed for block in page.blocks.values())
    return page


@pytest.mark.parametrize("text", SAMPLES)
def test_one_character_at_a_time_ends_as_the_whole(text: str) -> None:
    assert streamed(text, list(range(len(text)))).html == render_answer(text, THREE).html


@pytest.mark.parametrize("seed", range(20))
def test_random_cuts_end_as_the_whole(seed: int) -> None:
    chance = random.Random(seed)
    text = "\n\n".join(chance.sample(SAMPLES, 4))
    cuts = sorted(chance.sample(range(len(text)), 12))
    assert streamed(text, cuts).html == render_answer(text, THREE).html


@settings(max_examples=300, deadline=None)
@given(
    st.text(alphabet="ab1 \n-*+>#=|`~:[](){}!【】_.<h\t$\\", max_size=90),
    st.lists(st.integers(0, 90), max_size=12),
)
def test_any_markdown_cut_anywhere_ends_as_the_whole(text: str, cuts: list[int]) -> None:
    places = sorted(min(cut, len(text)) for cut in cuts)
    assert streamed(text, places).html == render_answer(text, THREE).html


def test_only_the_open_block_is_sent_again() -> None:
    stream = BlockStream(THREE)
    stream.push("First.\n\nSecond")
    assert [(b.index, b.closed) for b in stream.changed()] == [(0, False)]
    stream.push(" grows\nand")
    assert [(b.index, b.closed) for b in stream.changed()] == [(0, True), (1, False)]
    stream.push(" on")
    assert [(b.index, b.closed) for b in stream.changed()] == [(1, False)]
    assert stream.changed() == []
    assert stream.open_size > 0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It failed [1", "It failed "),
        ("It failed [1, 2", "It failed "),
        ("It failed [1]", "It failed "),
        ("It failed [1].", "It failed [1]."),
        ("See [docs](https://exam", "See "),
        ("See [docs](https://example.org) ", "See [docs](https://example.org) "),
        ("See ![pic](https://", "See "),
        ("See <https://exam", "See "),
        ("Siehe 【2", "Siehe "),
        ("Wow!", "Wow"),
        ("So \\( x = ", "So "),
        ("So\n\n\\[\nx = ", "So\n\n"),
        ("So \\( x \\) holds", "So \\( x \\) holds"),
        ("See https://exam", "See "),
        ("See https://example.org and", "See https://example.org and"),
        ("Write to ann@exam", "Write to "),
        ("See www.exam", "See "),
        ("```\nx[1", "```\nx[1"),
        ("a [" + "x" * 300, "a [" + "x" * 300),
    ],
)
def test_a_half_written_mark_or_link_waits(text: str, shown: str) -> None:
    assert hold_back(text) == shown


@settings(deadline=None)
@given(st.text(max_size=120))
def test_what_is_shown_is_a_beginning_of_the_text(text: str) -> None:
    assert text.startswith(hold_back(text))


PIECES = [
    *("word", " ", "  ", ", ", ". ", ".", "? ", "дом ", "l’été ", "50 %", "1", "2. ", "-", "- "),
    *("\n", "\n\n", "\n- ", "\n  ", "\n> ", "\n1. ", "*", "**", "_", "`", "~~", "$", "# ", "|"),
    *(
        "[",
        "]",
        "[1]",
        " [2]",
        "【3】",
        "(",
        ")",
        "www.",
        "a@b",
        ":",
        "//",
        "http",
        "&",
        "amp",
        ";",
    ),
    *("\\(", "\\)", "\\[", "\\]", "\n\\[\n", "\n\\]\n"),
    *("<", ">", "!", "\\", "=", "```", "[x] ", '"'),
]


class Parsing(BlockStream):
    """Parses its open end anew for every frame."""

    def _grown(self, visible: str) -> list[Block]:
        return []


@settings(max_examples=400)
@given(st.lists(st.sampled_from(PIECES), max_size=40), st.sampled_from([(), THREE]))
def test_plain_words_are_added_as_parsing_anew_would_add_them(
    pieces: list[str], passages: list[Quotable]
) -> None:
    stream, parsing = BlockStream(passages), Parsing(passages)
    for piece in pieces:
        stream.push(piece)
        parsing.push(piece)
        assert stream.changed() == parsing.changed()
    assert stream.finish() == parsing.finish()


def test_plain_words_are_not_parsed_anew() -> None:
    stream = BlockStream(THREE)
    stream.push("- An item with *stress* and a mark [1]. It goes on")
    stream.changed()
    parsed = []
    stream._render = lambda block: parsed.append(block) or ""  # type: ignore[method-assign,func-returns-value]
    stream.push(" with more words, and one.")
    (block,) = stream.changed()
    assert block.html.endswith("It goes on with more words, and one.</li>\n</ul>\n")
    assert parsed == []
