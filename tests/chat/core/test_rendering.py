"""Answers as HTML: marks become chips, nothing runs, nothing loads by itself."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.core.citations import Quotable
from chat.core.rendering import lead_to_cards, render_answer

THREE = [
    Quotable(n, title, text, 0, len(text), f"/vaults/t/notes/{title}.md", n)
    for n, title, text in (
        (1, "Pump", "The pump failed in March."),
        (2, "Seal", "The seal was worn."),
        (3, "Repair", "It was repaired in three hours."),
    )
]


class Elements(HTMLParser):
    """Every element of a page with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


LIVE = {"script", "img", "svg", "style", "iframe", "object", "embed", "form", "link", "base"}


def assert_dead(html: str) -> None:
    """Nothing in it runs, or loads anything by itself."""
    for tag, attributes in Elements(html).found:
        assert tag not in LIVE
        assert not [
            name for name in attributes if name.startswith("on") or name in {"style", "src"}
        ]
        assert re.match(r"https?:|mailto:|/vaults/", attributes.get("href") or "https:")


def html_of(text: str) -> str:
    return render_answer(text, THREE).html


def chips(text: str) -> list[str | None]:
    elements = Elements(html_of(text)).found
    return [a["data-n"] for tag, a in elements if tag == "a" and "data-n" in a]


def test_numbers_that_do_not_exist_never_reach_the_reader() -> None:
    text = (
        "The seal was worn [2], see also [7] and [0]. Repaired in three hours [3][12]. "
        "Section [1.2] and [03] and [-1] and [99999999999999999999]."
    )
    assert chips(text) == ["2", "3", "3"]
    html = html_of(text)
    for invented in ("[7]", "[0]", "[12]"):
        assert invented not in html
    assert "see also and." in html
    for plain in ("[1.2]", "[-1]", "[99999999999999999999]"):
        assert plain in html
    citations = render_answer(text, THREE).citations
    assert sorted({citation.number for citation in citations}) == [2, 3]


@pytest.mark.parametrize(
    "text",
    [
        "The pump failed in March[9].",
        "水泵在三月出现故障[9]。",
        "| a | b |\n|---|---|\n| failed[9] | 故障[9] |",
        "See [100], [1 and 9]... [9], [Source 9], 【9:0†source】, [#9] and [7‑9].",
    ],
)
def test_no_form_of_an_invented_number_reaches_the_reader(text: str) -> None:
    assert "9" not in re.sub(r"<[^>]*>", "", html_of(text))


def test_without_passages_every_number_was_invented() -> None:
    assert "[7]" not in render_answer("It failed in March[7], as [1] says.", ()).html
    assert "[0, 1]" in render_answer("A number in [0, 1], see `x[7]`.", ()).html


def test_adjacent_marks_lists_ranges_and_line_starts() -> None:
    text = (
        "A [1][2]. B [1, 2]. C [1，3]. D [1-3]. E 【2】. F [2][2]. \n\n[3] starts a line: see it."
        "\n\n[1]: looks like a link definition\n\n- [ ] task [1]\n"
        "- [x] done [2](https://example.org/x)\n"
    )
    assert "".join(str(n) for n in chips(text)) == "1212131232223112"
    html = html_of(text)
    assert "looks like a link definition" in html
    assert 'href="https://example.org' not in html
    boxes = [a["aria-label"] for _, a in Elements(html).found if a.get("role") == "img"]
    assert boxes == ["open", "done"]


@pytest.mark.parametrize("text", ["`[1]`", "```\n[1]\n```", "    [1]", "[see [1]](https://a.org)"])
def test_marks_in_code_and_links_are_none(text: str) -> None:
    assert chips(text) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (r"So \( x[1] = 2 \) holds.", 1),
        (r"So \(x[1]\) and \[ y[2] \] hold.", 2),
        ("\\[\nx[1]\n- y[2]\n= 3\n\\]", 1),
        ("1. First:\n   \\[\n   x[1] = 2\n   \\]\n2. Second", 1),
        ("So it is:\n\\[ x[1] = 2 \\]\nand on", 1),
        ("> \\[\n> x[1]\n> \\]", 1),
        ("| a |\n|---|\n| \\(x[1]\\) |", 1),
    ],
)
def test_formulas_between_brackets_are_formulas_without_citations(text: str, count: int) -> None:
    assert html_of(text).count("<math") == count
    assert chips(text) == []


@pytest.mark.parametrize(
    "text",
    [
        r"a \( b",
        "a \\[ b",
        r"`\( x \)`",
        "```\n\\[ x \\]\n```",
        r"a \\(b\\)",
        "\\[\nx\n\ny\n\\]",
        r"\(\)",
    ],
)
def test_what_is_no_whole_formula_stays_text(text: str) -> None:
    assert "<math" not in html_of(text)


def test_a_text_full_of_open_formulas_takes_no_long_time() -> None:
    began = time.process_time()
    assert "<math" not in html_of("\\[\n" * 5000)
    assert time.process_time() - began < 5


def test_a_mark_behind_a_formula_is_one() -> None:
    assert chips(r"The seal was worn by \( x_1 \) [2]. And \[ y \] [3].") == ["2", "3"]


def test_a_chip_leads_to_the_sentence_and_says_so() -> None:
    html = html_of("The pump failed in March [1].")
    assert (
        '<a class="cite" data-n="1" data-where="" '
        'href="/vaults/t/notes/Pump.md?span=0-25&amp;source=1" '
        'aria-label="Source 1: Pump" rel="noreferrer nofollow noopener">1</a>'
    ) in html
    assert 'class="cite weak"' in html_of("Elephants remember their grandmothers [1].")


def test_a_chip_of_a_note_that_is_gone_leads_nowhere() -> None:
    gone = Quotable(1, "Pump", "The pump failed.", 0, 16, "", 1)
    html = render_answer("The pump failed [1].", [gone]).html
    assert 'data-n="1"' in html
    assert "href" not in html


def test_a_callout_is_one_and_what_stands_in_it_is_cited() -> None:
    text = (
        "> [!warning]- Mind the pump [1]\n> The pump failed in March. [1]\n>\n> - [2] The seal.\n"
    )
    elements = Elements(html_of(text)).found
    assert elements[0] == ("details", {"class": "callout callout-warning"})
    assert "[!" not in html_of(text)
    assert chips(text) == ["1", "1", "2"]
    assert html_of("> [!note]").count("Note") == 1


@pytest.mark.parametrize("kind", ["<script>", '"onclick="', "a/b", "", "x" * 41])
def test_what_is_no_kind_of_callout_is_a_quote(kind: str) -> None:
    assert Elements(html_of(f"> [!{kind}] t")).found[0][0] == "blockquote"


def test_no_line_ends_before_a_number() -> None:
    """White space that an element holds breaks no line, and is copied as it was written."""
    assert held("It failed in March [1]. So [1, 2].") == [" 1", " 12"]
    assert held("In **March** [1] and `x` [2].") == [" 1", " 2"]
    assert held("三月に壊れた。[1]そして終わり[2][3]。") == ["。1", "り23"]
    assert held("By her 👩‍👩‍👧[1]") == ["👩‍👩‍👧1"]
    assert held("[1] begins a line.") == []


def test_more_numbers_than_a_line_holds_may_go_to_the_next() -> None:
    many = [Quotable(n, "T", "The pump failed.", 0, 16, "", n) for n in range(1, 10)]
    html = render_answer("It failed [1-9]. And [1][2][3][4][5][6].", many).html
    assert [tag_free(each) for each in HELD.findall(html)] == [" 1234", " 1234"]
    assert tag_free(html).split() == ["It", "failed", "123456789.", "And", "123456."]


HELD = re.compile('<span class="held">(.*?)</span>')


def tag_free(html: str) -> str:
    return re.sub("<[^>]*>", "", html)


def held(text: str) -> list[str]:
    """What stays on one line with what stands before it."""
    return [tag_free(html) for html in HELD.findall(html_of(text))]


def test_a_mark_in_bold_text_is_found() -> None:
    assert chips("**The seal was worn [2].** And *[1]*") == ["2", "1"]


def test_links_show_their_host_and_only_real_ones_are_links() -> None:
    html = html_of("[docs](https://example.org/a?b=1) [mail](mailto:a@example.org) [note](Pump.md)")
    assert (
        '<a class="outside" href="https://example.org/a?b=1" rel="noreferrer nofollow noopener">'
        'docs</a><span class="link-host"> (example.org)</span>'
    ) in html
    assert "Pump.md" not in html


def test_an_image_is_named_and_never_loaded() -> None:
    html = html_of("![x](https://evil.org/p.png?q=secret) ![y](//evil.org/z) ![z](data:a,b)")
    assert "<img" not in html
    assert "Picture from evil.org: x</a>" in html


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](data:text/html,<script>)",
    "<a href='javascript:1'>x</a>",
    "![x](javascript:alert(1))",
    '<https://evil.org/"onmouseover=alert(1)>',
    "```<script>\nx\n```",
    "```python\n<script>alert(1)</script>\n```",
    '[a](https://x.org/"onclick=alert(1))',
    "<svg onload=alert(1)>",
    "<style>*{}</style>",
    "| <b>x</b> |\n|---|\n| <iframe src=//e.org> |",
    "[x]: javascript:alert(1)\n\n[x]",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_markup_is_shown_and_dead(text: str) -> None:
    assert_dead(html_of(text))


def test_a_hostile_title_stays_in_its_attribute() -> None:
    evil = Quotable(1, '"><script>x</script>', "Text.", 0, 5, "/vaults/t/notes/a.md", 1)
    found = Elements(render_answer("[1]", [evil]).html).found
    assert [tag for tag, _ in found] == ["p", "a"]


def test_code_is_coloured_by_classes() -> None:
    assert '<span class="k">def</span>' in html_of("```python\ndef f(): pass\n```")
    assert "<code" in html_of("```nonsense\nx\n```")


def test_what_is_nested_deep_is_not_lost() -> None:
    text = "\n".join("  " * depth + f"- item{depth}" for depth in range(20))
    assert "item19" in html_of(text)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="[]()!<>`*_-#|:$\n 12３【】ahtps/.\"'&", max_size=120))
def test_any_text_gives_only_allowed_elements(text: str) -> None:
    rendered = render_answer(text, THREE)
    assert_dead(rendered.html)
    assert all(citation.number in {1, 2, 3} for citation in rendered.citations)
    shown = [a["data-n"] for _, a in Elements(rendered.html).found if "data-n" in a]
    assert shown == [str(citation.number) for citation in rendered.citations]


def test_a_chip_says_where_its_quote_stands() -> None:
    text = "The pump failed in March."
    pump = Quotable(1, "Pump", text, 0, len(text), "/n", 7, "A & B", ((0, ("Pump", 'On "March"')),))
    html = render_answer("It failed in March [1].", [pump]).html
    assert 'data-where="A &amp; B › On &quot;March&quot;"' in html


def test_the_number_of_a_note_that_is_gone_leads_to_its_card() -> None:
    html = html_of("The pump failed in March. [1] It was repaired in three hours. [3]")
    led = lead_to_cards(html, {1: "source-a-1"})
    gone, kept = (a for tag, a in Elements(led).found if tag == "a")
    assert (gone["href"], gone["data-span"]) == ("#source-a-1", "?span=0-25")
    assert gone["aria-label"] == "Source 1: Pump (its note is gone)"
    assert kept["href"] == "/vaults/t/notes/Repair.md?span=0-31&source=3"
    assert lead_to_cards(html, {2: "source-a-2"}) == html


def test_what_looks_like_a_number_in_a_text_or_a_title_is_not_led_anywhere() -> None:
    fake = '<a class="cite" data-n="1" data-where="" href="/x" aria-label="y">'
    passages = [Quotable(1, fake, "It failed.", 0, 10, "/vaults/t/notes/a.md", 1, fake)]
    html = render_answer(f"{fake} `{fake}` It failed. [1]", passages).html
    led = lead_to_cards(html, {1: "card"})
    assert led.count("#card") == 1
    assert [a["href"] for tag, a in Elements(led).found if tag == "a"] == ["#card"]
