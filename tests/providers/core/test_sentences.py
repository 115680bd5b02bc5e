"""Markdown becomes the sentences a reader would see."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.core.sentences import Kind, first_sentence, plain, sentences, split


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("It runs at 3.5 bar, e.g. here. Good.", ["It runs at 3.5 bar, e.g. here.", "Good."]),
        ("一つ。二つ。", ["一つ。", "二つ。"]),
        ("# Title\n\nText\ngoes on.", ["Text goes on."]),
        ("- [x] done\n- [ ] open\n  and more", ["done", "open and more"]),
        ("> [!note] Beware\n> the dog", ["Beware: the dog"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ["1: 2"]),
        ("Key | Act\n--- | :-:\n`j` | down\nk | up\n\nAfter.", ["`j`: down", "k: up", "After."]),
        ("> | a | b |\n> |---|---|\n> | 1 | `x\\|y` |", ["1: `x|y`"]),
        ("| 1 | in the middle |\n| 2 | of a table |", ["1: in the middle", "2: of a table"]),
        ("| a | b | c |\n|---|---|---|\n| 1 | 2 | – |", ["1 · b: 2"]),
        ("| 1 | 2 | 3 |", ["1 · 2 · 3"]),
        ("Either a | or b.\nMore.", ["Either a | or b.", "More."]),
        ('He said "Go." Then he went.', ['He said "Go."', "Then he went."]),
        ("Type `Stop. Wait` now. Good.", ["Type `Stop. Wait` now.", "Good."]),
        ("keeps `%%this%%` %%not this%%", ["keeps `%%this%%`"]),
        ("```html\n<!-- shown -->\n```\nend", ["`<!-- shown -->`", "end"]),
        ("```py\nx = 1\n```\nafter", ["`x = 1`", "after"]),
        ("visible %%hidden%% text", ["visible  text"]),
        ("---\n***\n", []),
        ("", []),
    ],
)
def test_sentences(markdown: str, expected: list[str]) -> None:
    assert sentences(markdown) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("see [[Pump#Seal|the seal]] and [[Valve]]", "see the seal and Valve"),
        ("a [link](https://example.com) and ![[photo.png]]", "a link and"),
        ("**bold** ==mark== ~~gone~~ snake_case", "bold mark gone snake_case"),
        ("这是**重点**内容, (**bold**)", "这是重点内容, (bold)"),
        ("return min(60.0, 0.5 * 2**attempt)", "return min(60.0, 0.5 * 2**attempt)"),
        ("if rate == 2 ** 3 or (a)**(b) and x==y:", "if rate == 2 ** 3 or (a)**(b) and x==y:"),
        ("fact[^1] ^block-id", "fact"),
        ("ranges [1-3] and [x]", "ranges (1-3) and [x]"),
        ("write `![[embeds]]` or `[[wikilinks]]`", "write `![[embeds]]` or `[[wikilinks]]`"),
        ("``a ` [[b]]`` and [[b]]", "``a ` [[b]]`` and b"),
        ("[`**x**`](https://example.com) **y**", "`**x**` y"),
        ("a lone ` and [[b]]", "a lone ` and b"),
        ("no \0 or \x000\0 stays", "no  or 0 stays"),
    ],
)
def test_inline_markup_is_taken_off(line: str, expected: str) -> None:
    assert plain(line) == expected


def test_the_title_of_a_callout_says_of_what_its_text_speaks() -> None:
    """Alone it is half a sentence, and the text without it says of nothing what it says."""
    stays = "It stays shut all day."
    callout = "> It stays shut\n> all day. Nobody has a key."
    nobody = "Nobody has a key."
    assert sentences(f"> [!danger] The lid\n{callout}") == [f"The lid: {stays}", nobody]
    assert sentences(f"> [!danger] Never touch it.\n{callout}") == [
        "Never touch it.",
        stays,
        nobody,
    ]
    assert sentences("> [!tip] The lid\n> - one side\n> - two") == ["The lid", "one side", "two"]
    told = split(f"# Mill\n> [!danger] The lid\n{callout}\n\nIt grinds.")
    assert [each.headings for each in told] == [("Mill", "The lid")] * 2 + [("Mill",)]
    assert sentences("> [!danger] Beware") == ["Beware"]
    assert sentences("> [!note]\n> It stays shut.") == ["It stays shut."]


def test_a_very_long_sentence_is_cut_at_a_space() -> None:
    text = sentences("word " * 400)[0]
    assert text.endswith("word…")
    assert len(text) <= 601


def test_the_first_sentence_of_nothing_is_empty() -> None:
    assert first_sentence("# only a title") == ""


@given(st.text())
def test_no_text_breaks_it(text: str) -> None:
    assert all(sentence.strip() for sentence in sentences(text))


def test_a_german_ordinal_does_not_end_a_sentence() -> None:
    date = "Die Pumpe fiel am 3. März 2026 aus. Resturlaub verfällt am 31. Dezember."
    text = f"{date} Es sind 30. Mehr nicht."
    assert sentences(text) == [
        "Die Pumpe fiel am 3. März 2026 aus.",
        "Resturlaub verfällt am 31. Dezember.",
        "Es sind 30.",
        "Mehr nicht.",
    ]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("#pump #repair/2026", Kind.POINTER),
        ("See also [[Heron]], [[Mill]].", Kind.POINTER),
        ("См. также [[Цапля]], [[Смена]].", Kind.POINTER),
        ("参见 [[苍鹭]]、[[磨坊]]。", Kind.POINTER),
        ("- [[Pump|The pump]]: what it does", Kind.POINTER),
        ("- https://example.com/a", Kind.POINTER),
        ("[[Ann]] repaired the pump.", Kind.PROSE),
        ("#1 of the list is the pump.", Kind.PROSE),
        ("- The pump, see [[Pump]].", Kind.ITEM),
        ("| a | b |", Kind.ROW),
        ("```\ncode", Kind.CODE),
    ],
)
def test_what_only_leads_elsewhere_is_told_from_what_says_something(line: str, kind: Kind) -> None:
    assert split(line)[0].kind is kind


def test_a_sentence_knows_the_headings_above_it() -> None:
    text = "# One\n\nA.\n\n### Deep\n\nB.\n\n## Two\n\nC. D."
    above = [(each.text, each.headings) for each in split(text)]
    assert above == [
        ("A.", ("One",)),
        ("B.", ("One", "Deep")),
        ("C.", ("One", "Two")),
        ("D.", ("One", "Two")),
    ]
    blocks = [each.block for each in split(text)]
    assert blocks[2] == blocks[3] > blocks[1] > blocks[0]


@pytest.mark.parametrize("piece", [" ", "\t", ">", "> ", "[", "[[", "![["])
def test_a_row_of_marks_or_blanks_is_read_at_once(piece: str) -> None:
    before = time.process_time()
    split(piece * 20_000 + "!")
    assert time.process_time() - before < 2
