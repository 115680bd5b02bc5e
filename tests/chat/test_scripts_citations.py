"""Numbers in an answer and the card of a passage: what is pure in their module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.chat.scripts import opened, run

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with opened() as page:
        yield page


LETTERS = "abcdefghijklmnopqrstuvwxyzABCD"
QUOTE_IN = "(m, [href, start, text]) => m.quoteIn(href, start, text)"


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("/n?span=10-14&source=1", ["", "abcd", LETTERS[4:]]),
        ("/n?span=10-40", None),  # the whole passage needs no mark
        ("/n?span=0-5", None),
        ("/n?span=20-90", None),
        ("?span=12-20", ["ab", "cdefghij", LETTERS[10:]]),  # of a note that is gone
        ("/n?lifespan=12-20", None),
        ("/n?span=9-x", None),
    ],
)
def test_the_quote_is_found_in_its_passage(
    page: Page, href: str, expected: list[str] | None
) -> None:
    assert run(page, "citations.js", QUOTE_IN, [href, 10, LETTERS]) == expected


def test_a_quote_is_shown_in_its_paragraph_as_it_reads(page: Page) -> None:
    text = "# Head\n\n> [!tip] One 🐦. Two **[[b|bold]] birds** and `a*b*`. _Three_.\n\nLast."
    href = f"/n?span={text.index('Two')}-{text.index(' _Three')}"
    shown = run(page, "citations.js", QUOTE_IN, [href, 0, text])
    assert shown == ["One 🐦. ", "Two bold birds and a*b*.", " Three."]


def test_a_mark_that_spans_the_edge_of_a_quote_is_left_out_too(page: Page) -> None:
    text = "It is **open. Always** so."
    shown = run(page, "citations.js", QUOTE_IN, [f"?span=0-{text.index(' Always')}", 0, text])
    assert shown == ["", "It is open.", " Always so."]


@pytest.mark.parametrize(
    ("markdown", "read"),
    [
        (
            "Run `make **all**` in [the room](https://example.com/a).",
            "Run make **all** in the room.",
        ),
        ("## Head\n\n- [x] *done* and ~~gone~~", "Head\n\n- [x] done and gone"),
        ("| a | b |\n|---|:-:|\n| [[N|1]] | 2 |", "a · b\n1 · 2"),
        ("```py\n# **kept** | so\n```\nThen ==this==.", "# **kept** | so\nThen this."),
        ("~~~\nx = [[1], [2]]", "x = [[1], [2]]"),
        ("2 * 3 * 4, snake_case_name, a == b == c, f(*args), _x", None),
        ("![[plan.png]] and ![old](a.png)", "plan.png and old"),
        ("[1] is no link, [[nor this", None),
        ("***Both*** and __strong__.", "Both and strong."),
    ],
)
def test_a_passage_is_shown_without_its_marks(page: Page, markdown: str, read: str | None) -> None:
    """None: as it is written."""
    shown = run(page, "citations.js", "(m, text) => m.plain(text)", markdown)
    assert shown == (markdown if read is None else read)


VIEW = {"width": 1000, "height": 600}
CARD = {"width": 340, "height": 200}


@pytest.mark.parametrize(
    ("top", "bottom", "chip"), [(100, 140, 500), (500, 560, 500), (380, 420, 5), (10, 60, 995)]
)
def test_a_card_never_lies_on_the_sentence_it_is_about(
    page: Page, top: int, bottom: int, chip: int
) -> None:
    sentence = {"top": top, "bottom": bottom, "chip": chip}
    code = "(m, [sentence, card, view]) => m.place(sentence, card, view)"
    spot = run(page, "citations.js", code, [sentence, CARD, VIEW])
    assert spot["top"] >= bottom or spot["top"] + CARD["height"] <= top
    assert 0 < spot["left"] <= VIEW["width"] - CARD["width"]
    assert 0 < spot["top"] <= VIEW["height"] - CARD["height"]


def test_a_sentence_ends_at_its_chip_and_begins_after_the_last(page: Page) -> None:
    code = """(m) => {
        const paragraph = document.createElement("p");
        paragraph.innerHTML = 'So.<i> <a class="cite">2</a></i> <b>Two</b>.<a class="cite">1</a>';
        document.body.append(paragraph);
        return m.sentenceOf(paragraph.lastChild).toString();
    }"""
    assert run(page, "citations.js", code) == " 2 Two.1"
