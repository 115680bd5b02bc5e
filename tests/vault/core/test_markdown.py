"""Headings, links, tags, comments and blocks of a note."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.vault.core.markdown_texts import texts
from tests.vault.core.test_chunking_properties import SEEN, clean
from vault.core.markdown import merged_spans, parse_markdown
from vault.core.types import ParsedNote


def parse(text: str, path: str = "Folder/Some note.md") -> ParsedNote:
    return parse_markdown(text, path=path)


def headings(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in parse(text).headings]


def links(text: str) -> list[tuple[str, str, str]]:
    return [(link.target, link.anchor, link.alias) for link in parse(text).links]


def seen(note: ParsedNote) -> str:
    parts, reached = [], 0
    for start, end in note.hidden:
        parts.append(note.body[reached:start])
        reached = end
    return "".join([*parts, note.body[reached:]])


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From property\n---\n# Heading", "From property"),
        ("text\n\n# First\n\n# Second", "First"),
        ("## Only second", "Some note"),
        ("# {{title}}\n\n# Real", "Real"),
        ("#\n\n# Real", "Real"),
        ("", "Some note"),
        ("> # Quoted", "Some note"),
    ],
)
def test_the_title_is_the_property_or_first_heading_or_file_name(text: str, title: str) -> None:
    assert parse(text).title == title


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("# Setup ##", "Setup"),
        ("# C#", "C#"),
        ("# C# ", "C#"),
        ("#   Blanks   between  ", "Blanks between"),
        ("# **Bold** _and_ `code` ==mark== ~~gone~~", "Bold and code mark gone"),
        ("# snake_case and 2 * 3 * 4", "snake_case and 2 * 3 * 4"),
        ("# [Label](https://example.org/a#b)", "Label"),
        ("# [[Note|shown]] and [[Other#Part]]", "shown and Other Part"),
        ("# ![[image.png|200]] tail", "200 tail"),
        ("# Important <!-- TODO -->", "Important"),
        ("# Part %%hidden%% two", "Part two"),
        ("# Escaped \\# \\*", "Escaped # *"),
        ("# Tom &amp; Ann", "Tom & Ann"),
        ("# Named ^block-1", "Named"),
        ("# Price <b>now</b>", "Price now"),
        ("Setext\n===", "Setext"),
        ("Two\nlines\n===", "Two lines"),
    ],
)
def test_headings_read_as_people_see_them(source: str, text: str) -> None:
    assert headings(source) == [(1, text)]


@pytest.mark.parametrize(
    "text",
    [
        "```\n# code\n```",
        "~~~\n# code\n```\n# code\n~~~",
        "- item\n  ```\n  # code\n  ```",
        "> ```\n> # code\n> ```",
        "> # quoted",
        "> [!note]\n> ## In a callout",
        "- # in a list",
        "    # indented",
        "#nospace",
        "####### seven",
        "<!--\n# hidden\n-->",
        "<div>\n# raw\n</div>",
        "%%\n# hidden\n%%",
        "$$\n# formula\n$$",
        "```\n# never closed",
        "| a |\n|---|\n| # |",
        "---\ntitle: x\n# comment\n---\n",
    ],
)
def test_hashes_that_are_no_headings(text: str) -> None:
    assert headings(text + "\n") == []


def test_a_rule_under_a_table_makes_no_heading_of_it() -> None:
    assert headings("| a | b |\n|---|---|\n| 1 | 2 |\n---\n\n# Real") == [(1, "Real")]


def test_places_of_headings_are_places_of_the_body() -> None:
    note = parse("---\na: 1\n---\nText\n\n## One\n\nTwo\n---\n")
    assert note.body_line == 4
    assert [(heading.line, note.body[heading.start :][:6]) for heading in note.headings] == [
        (3, "## One"),
        (5, "Two\n--"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[Note]]", ("Note", "", "")),
        ("[[Folder/Note|shown]]", ("Folder/Note", "", "shown")),
        ("[[Note#Part|shown]]", ("Note", "Part", "shown")),
        ("[[Note#Part#Sub]]", ("Note", "Part#Sub", "")),
        ("[[Note#^block]]", ("Note", "^block", "")),
        ("[[#Here]]", ("", "Here", "")),
        ("[[ Note ]]", ("Note", "", "")),
        ("[[Note\\|odd]]", ("Note", "", "odd")),
        ("[[100% sure (v1.2)|sure]]", ("100% sure (v1.2)", "", "sure")),
        ("[[Cafe\u0301]]", ("Café", "", "")),
        ("> [[Quoted]]", ("Quoted", "", "")),
        ("- [ ] [[Task]]", ("Task", "", "")),
        ("## [[Heading]]", ("Heading", "", "")),
        ("| a |\n|---|\n| [[Cell\\|c]] |", ("Cell", "", "c")),
        ("[x](note.md)", ("note.md", "", "x")),
        ("[x](a%20b.md)", ("a b.md", "", "x")),
        ("[x](100%25%20sure%20(v1.2).md)", ("100% sure (v1.2).md", "", "x")),
        ("[x](<a b.md>)", ("a b.md", "", "x")),
        ("[x](a b.md)", ("a b.md", "", "x")),
        ("[x](a.md#Part%20two)", ("a.md", "Part two", "x")),
        ('[x](a.md "A title")', ("a.md", "", "x")),
        ("[x](../up/a.md)", ("../up/a.md", "", "x")),
        ("[x](#here)", ("", "here", "x")),
        ("[`code`](a.md)", ("a.md", "", "`code`")),
    ],
)
def test_links_of_every_form_are_read(text: str, expected: tuple[str, str, str]) -> None:
    assert links(text) == [expected]


def test_embeds_are_told_from_links() -> None:
    found = parse("![[a.png|200]] ![alt](b.png) [[c]] [d](d.md)").links
    assert [(link.target, link.is_embed) for link in found] == [
        ("a.png", True),
        ("b.png", True),
        ("c", False),
        ("d.md", False),
    ]


def test_a_picture_inside_a_link_gives_both() -> None:
    assert {target for target, _, _ in links("[![alt](pic.png)](note.md)")} == {
        "pic.png",
        "note.md",
    }


@pytest.mark.parametrize(
    "text",
    [
        "`[[code]]`",
        "`` ` [[code]] ``",
        "```\n[[code]]\n```",
        "    [[indented]]",
        "%%[[hidden]]%%",
        "%%\n[[hidden]]\n%%",
        "<!-- [[hidden]] -->",
        "\\[[escaped]]",
        "[[ ]]",
        "[x]()",
        "[x](https://example.org/a.md)",
        "[x](mailto:ana@example.org)",
        "[x](//example.org/a.md)",
        "[[https://example.org]]",
        "[[two\nlines]]",
        "[x] (a.md)",
        "![p](data:image/png;base64,AAAA)",
        "$$\n[[formula]]\n$$",
    ],
)
def test_what_only_looks_like_a_link(text: str) -> None:
    assert links(text) == []


def test_places_of_links_are_places_of_the_body() -> None:
    text = "---\na: 1\n---\nOne [[a]]\n\n| x |\n|---|\n| [b](b.md) |\n"
    note = parse(text)
    assert [(link.line, note.body[link.start :][:5]) for link in note.links] == [
        (1, "[[a]]"),
        (5, "[b](b"),
    ]


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#one and #two/three, #four.", ("one", "two/three", "four")),
        ("#тест #日本 #emoji😀 #नमस्ते", ("тест", "日本", "emoji😀", "नमस्ते")),
        ("(#paren) [#bracket] （#full）", ("paren", "bracket", "full")),
        ("#1984y #y1984 #a-b_c", ("1984y", "y1984", "a-b_c")),
        ("#Same #same", ("Same",)),
        ("#trailing/ #dash-", ("trailing", "dash")),
        ("> #quoted\n\n- #item\n\n## Title #head", ("quoted", "item", "head")),
        ("#facade #bed #b2b", ("facade", "bed", "b2b")),
    ],
)
def test_tags_in_the_text_are_read(text: str, tags: tuple[str, ...]) -> None:
    assert parse(text).tags == tags


@pytest.mark.parametrize(
    "text",
    [
        "#1984 #12",
        "colour #fff #ffffff #1e90ff #fafafa #aabbcc80",
        "https://example.org/page#section https://example.org/#/route",
        "www.example.org/#part",
        "[[Note#Heading]] [x](file.md#part)",
        "\\#escaped word#inside ##double # C# F#m",
        "&#39; &#x27;",
        "`#code`",
        "```\n#code\n```",
        "<p style='color: #abcdef'>x</p> and <a href='#top'>up</a>",
        "%% #hidden %%",
        "Line ^ec05d4",
    ],
)
def test_what_only_looks_like_a_tag(text: str) -> None:
    assert parse(text).tags == ()


def test_tags_of_properties_and_text_are_joined() -> None:
    assert parse("---\ntags: [One]\n---\n#one #two").tags == ("One", "two")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a %%b%% c", "a  c"),
        ("a <!-- b --> c", "a  c"),
        ("%%\nb\n\nc\n%%\n\nd", "\n\nd"),
        ("<!--\nb\n\nc\n-->\n\nd", "\n\nd"),
        ("`%%b%%` c", "`%%b%%` c"),
        ("`<!-- b -->` c", "`<!-- b -->` c"),
        ("```\n%%b%%\n```", "```\n%%b%%\n```"),
        ("a %% b never closed", "a %% b never closed"),
        ("a <!-- b never closed", "a <!-- b never closed"),
        ("%%\nnever closed\n\ntext", "%%\nnever closed\n\ntext"),
        ("100%% sure, %%x%%", "100x%%"),
        ("<div><!-- b --></div>", "<div></div>"),
        ("| %%b%% |\n|---|\n| %% |", "|  |\n|---|\n| %% |"),
        ("![p](data:image/png;base64," + "QUJD" * 30 + ") c", "![p](data:image/png) c"),
        ("<img src='data:image/png;base64," + "QUJD" * 30 + "'>", "<img src='data:image/png'>"),
        ("[r]: data:image/png;base64," + "QUJD" * 30, "[r]: data:image/png"),
    ],
)
def test_comments_and_payloads_are_hidden_and_nothing_else(text: str, left: str) -> None:
    assert seen(parse(text)) == left


def test_block_anchors_are_read_outside_code() -> None:
    note = parse("Line ^one\n\n- item ^two-2\n\n`x ^no`\n\n```\na ^no\n```\n\n^three\n")
    assert [(anchor.name, anchor.line) for anchor in note.anchors] == [
        ("one", 1),
        ("two-2", 3),
        ("three", 11),
    ]


@given(texts)
def test_no_text_raises_and_blocks_cover_all_that_is_seen(text: str) -> None:
    note = parse(clean(text))
    json.dumps(note.properties, allow_nan=False)
    reached = 0
    for block in note.blocks:
        assert reached <= block.start < block.end
        assert not SEEN.search(note.body[reached : block.start].replace("\ufffc", ""))
        reached = block.end
        assert all(block.start <= part.start < part.end <= block.end for part in block.parts)
    assert not SEEN.search(note.body[reached:])


@given(texts)
def test_places_point_at_what_they_name(text: str) -> None:
    note = parse(clean(text))
    for link in note.links:
        assert note.body[link.start] in "[!"
        assert note.body.count("\n", 0, link.start) + 1 == link.line
    for heading in note.headings:
        assert heading.start == 0 or note.body[heading.start - 1] == "\n"
    assert list(note.hidden) == sorted(note.hidden)
    assert note.hidden == merged_spans(list(note.hidden))


PLAIN = st.lists(
    st.sampled_from(
        ["# A", "## B ##", "C\n===", "D\n---", "```", "~~~", "    # e", "> # f", "- # g", "text",
         "", "<!--", "-->", "<div>", "#", "###### h", "[r]: x"]
    ),
    max_size=25,
).map("\n".join)  # fmt: skip


@given(PLAIN)
def test_headings_are_those_of_commonmark(text: str) -> None:
    if text.startswith("---"):
        return
    tokens = MarkdownIt("commonmark").parse(text)
    expected = [
        (int(token.tag[1]), token.map[0] + 1)
        for token in tokens
        if token.type == "heading_open" and token.level == 0 and token.map
    ]
    assert [(heading.level, heading.line) for heading in parse(text).headings] == expected


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        "](" * 100_000,
        "[](" * 50_000,
        "[[" * 100_000,
        "`" * 3 + " ` " * 50_000,
        "%%\n" * 20_001,
        "<!-- " * 100_000,
        "$$ a\n\n" * 10_000,
        "#a " * 100_000,
        "# " + "**a " * 100_000,
        ">" * 5_000 + " a",
        "\n".join(" " * (2 * depth) + "- a" for depth in range(400)),
        "\\" * 200_000 + "[[a]]",
        "![p](data:image/png;base64," + "QUJD" * 300_000 + ")",
        "|" + "h|" * 200 + "\n|" + "---|" * 200 + "\n" + ("|" + "v|" * 200 + "\n") * 300,
    ],
    ids=lambda text: text[:8],
)
def test_hostile_text_takes_seconds_at_most(text: str) -> None:
    began = time.process_time()
    note = parse(text)
    assert time.process_time() - began < 5
    assert note.body == text


def test_deep_nesting_loses_no_line() -> None:
    text = "\n".join(" " * (2 * depth) + f"- level {depth}" for depth in range(300))
    note = parse(text)
    assert (note.blocks[0].start, note.blocks[-1].end) == (0, len(text))


def test_a_property_that_is_a_link_is_a_link_of_the_note() -> None:
    text = (
        '---\nby: "[[Mira#Early|her]]"\nsee: ["[[Plan]]", "about [[Other]]", "![[p.png]]"]\n'
        'deep: {in: {it: " [[Deep]] "}}\n---\nIn the [[Body]].\n'
    )
    links = parse_markdown(text, path="a.md").links
    assert [(link.target, link.anchor, link.alias) for link in links] == [
        ("Mira", "Early", "her"), ("Plan", "", ""), ("Deep", "", ""), ("Body", "", ""),
    ]  # fmt: skip
    assert [link.start for link in links] == [0, 0, 0, 7]
