"""Notes look like Obsidian's reading view, and nothing in them can act."""

from __future__ import annotations

import pytest

from tests.vault.core.rendering.page import Page
from vault.core.rendering import (
    Resolved,
    answer_parser,
    render_code_note,
    render_note,
    render_plain,
    sanitise,
)

NOTES = {"Plan": "/v/notes/Plan.md", "the brief.md": "/v/notes/the%20brief.md"}


def resolve(target: str, *, is_embed: bool) -> Resolved | None:
    if target == "chart.png":
        return Resolved("/v/files/chart.png", is_image=True)
    return Resolved(NOTES[target]) if target in NOTES else None


def page(body: str, **options: object) -> Page:
    return Page(render_note(body, resolve=resolve, **options).html)  # type: ignore[arg-type]


def test_a_wikilink_leads_to_the_heading_of_its_note() -> None:
    link = page("See [[Plan#Phase two|phase 2]].")
    assert link.all("a")[0]["href"] == "/v/notes/Plan.md#h-phase-two"
    assert link.text.strip() == "See phase 2."


def test_a_wikilink_without_alias_shows_note_and_heading_and_a_block_link_its_block() -> None:
    assert page("[[Plan#Phase two]]").text.strip() == "Plan > Phase two"
    assert page("[[Plan#^b1]]").all("a")[0]["href"] == "/v/notes/Plan.md#block-b1"
    assert page("[[#End]]").all("a")[0]["href"] == "#h-end"


def test_a_link_to_nothing_is_marked_and_leads_nowhere() -> None:
    for body in ("[[Nobody]]", "[x](nowhere.md)", "[k](..%2F..%2Fetc%2Fpasswd)"):
        (link,) = page(body).all("a")
        assert "broken" in link["class"]
        assert "href" not in link


def test_relative_links_are_decoded_once() -> None:
    assert page("[a](the%20brief.md)").all("a")[0]["href"] == "/v/notes/the%20brief.md"


def test_links_in_table_cells_keep_their_alias() -> None:
    table = page("| a | b |\n|---|---|\n| [[Plan\\|the plan]] | x |")
    assert table.all("a")[0]["href"] == "/v/notes/Plan.md"
    assert "the plan" in table.text


def test_code_holds_no_links_tags_or_footnotes() -> None:
    body = "`[[Plan]] #no [^1]`\n\n```md\n[[Plan]] #no %%kept%%\n```\n"
    rendered = page(body)
    assert rendered.all("a") == []
    assert "%%kept%%" in rendered.text


def test_an_embedded_picture_is_ours_and_an_embedded_note_a_card() -> None:
    picture = page("![[chart.png|200]]").all("img")[0]
    assert (picture["src"], picture["width"]) == ("/v/files/chart.png", "200")
    assert page("![A chart|80](chart.png)").all("img")[0]["alt"] == "A chart"
    card = page("![[Plan]]")
    assert card.with_class("embed")
    assert card.all("a")[0]["href"] == "/v/notes/Plan.md"


def test_a_picture_of_another_site_is_named_and_not_loaded() -> None:
    rendered = page("![cat](https://pics.example.org/cat.png?q=secret)")
    assert rendered.all("img") == []
    assert "Picture from pics.example.org: cat" in rendered.text


def test_an_outside_link_names_its_host_and_tells_nothing() -> None:
    (link,) = page("[here](https://example.org/x)").all("a")
    assert link["title"] == "example.org"
    assert {"noreferrer", "nofollow"} <= set(link["rel"].split())


def test_callouts_have_kind_title_and_fold() -> None:
    folded = page("> [!warning]- Read me\n> Body\n> > [!note]\n> > Inner")
    (details,) = folded.all("details")
    assert details["class"] == "callout callout-warning"
    assert "open" not in details
    assert folded.with_class("callout-note")
    assert "[!" not in folded.text
    assert "open" in page("> [!tip]+ Open\n> Body").all("details")[0]


def test_a_fence_in_a_callout_ends_with_it_and_its_headings_are_no_sections() -> None:
    rendered = render_note("> [!note] T\n> ```sh\n> # no\n> ```\n> ## Inner\n\n## End\n")
    assert [entry.text for entry in rendered.outline] == ["End"]
    assert Page(rendered.html).all("h2")[-1]["id"] == "h-end"


def test_a_plain_quote_stays_a_quote() -> None:
    assert page("> [not a callout] said she").all("blockquote")


def test_tasks_say_their_state() -> None:
    boxes = page("- [ ] a\n- [x] b\n- [/] c\n- d").with_class("box")
    assert [box["aria-label"] for box in boxes] == ["open", "done", "marked /"]


def test_money_is_not_a_formula() -> None:
    rendered = page("From $50 to $100 and $x^2$, escaped \\$5.")
    assert len(rendered.all("math")) == 1
    assert rendered.text.startswith("From $50 to $100 and ")


def test_a_formula_that_cannot_be_read_is_shown_as_written() -> None:
    assert "\\left( x" in page("$$\n\\left( x\n$$").text
    deep = "{" * 500 + "x" + "}" * 500
    assert deep in page(f"$$\n{deep}\n$$").text


def test_comments_are_hidden() -> None:
    body = "a %%one%% b\n\n%%\ntwo\n\nstill two\n%%\n\n<!-- three -->\n\n<!--\nfour\n-->\nend"
    assert page(body).text.split() == ["a", "b", "end"]


def test_an_unclosed_comment_hides_nothing() -> None:
    assert page("%% open\n\nrest").text.split() == ["%%", "open", "rest"]


def test_tags_lead_to_search_and_look_alikes_do_not() -> None:
    rendered = page(
        "#project/alpha (#paren) a#no #1984 [x](http://e.org/#part) \\#escaped",
        tag_url=lambda tag: f"/search?q=tag:{tag}",
    )
    assert [tag["href"] for tag in rendered.with_class("tag")] == [
        "/search?q=tag:project/alpha",
        "/search?q=tag:paren",
    ]


def test_marks_block_ids_and_simple_html() -> None:
    rendered = page("==**lit** up== text ^b-1\n\nH<sub>2</sub>O<br>x <b onclick=x>y</b>")
    assert rendered.all("mark")
    assert rendered.all("strong")
    assert rendered.all("p")[0]["id"] == "block-b-1"
    assert "^b-1" not in rendered.text
    assert rendered.all("sub")
    assert "<b onclick=x>y</b>" in rendered.text


def test_a_title_heading_is_given_apart() -> None:
    rendered = render_note("# The *plan*\n\nText", title="The plan")
    assert rendered.title_html == "The <em>plan</em>"
    assert "<h1" not in rendered.html
    assert render_note("# Other\n", title="The plan").title_html == ""


def test_code_is_coloured_by_class_under_its_language() -> None:
    rendered = page("```python\nreturn 1  # <b>\n```")
    assert rendered.with_class("k")
    assert rendered.text.startswith("python")
    assert "return 1  # <b>" in rendered.text
    assert page("```no-such-language\nx\n```").text.strip() == "no-such-language" + "x"


def test_the_deepest_item_of_a_deep_list_is_shown() -> None:
    body = "\n".join("  " * depth + f"- level {depth}" for depth in range(40))
    assert "level 39" in page(body).text


def test_a_secret_mark_explains_itself() -> None:
    assert page("key: ⟦secret:jwt⟧").with_class("secret")


def test_large_notes_and_source_files_show_the_cited_lines() -> None:
    plain = render_plain("a <b>\ncited\nz", highlight=(6, 11))
    assert Page(plain.html).cited == "cited"
    assert "a <b>" in Page(plain.html).text
    code = render_code_note("x = 1\ny = 2\n", language="python", highlight=(6, 11))
    assert Page(code.html).cited == "y = 2"


VECTORS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    '<iframe src="https://evil.example"></iframe>',
    '<a href="javascript:alert(1)">x</a>',
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java&#x0A;script:alert(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](vbscript:msgbox(1))",
    "<javascript:alert(1)>",
    "![x](javascript:alert(1))",
    "![x](data:image/svg+xml;base64,PHN2Zy8+)",
    "![x](https://evil.example/?q=1)",
    "![x](//evil.example/a.png)",
    "![x][r]\n\n[r]: https://evil.example/a.png",
    "![[https://evil.example/a.png]]",
    '[x](https://e.org "onmouseover=alert(1) x=\\"")',
    "`</code><script>alert(1)</script>`",
    '```html"><script>alert(1)</script>\n</pre><script>alert(1)</script>\n```',
    "# <script>alert(1)</script>",
    '[[x" onmouseover="alert(1)]]',
    "[[Plan|<img src=x onerror=alert(1)>]]",
    "$\\href{javascript:alert(1)}{x}$",
    "$$\n\\text{<script>alert(1)</script>}\n$$",
    '> [!x" onload="alert(1)] <script>alert(1)</script>',
    "#tag<script>alert(1)</script>",
    "<math><mtext><table><mglyph><style><!--</style><img src=x onerror=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "text ^<img/src=x/onerror=alert(1)>",
    "[^1]\n\n[^1]: <img src=x onerror=alert(1)>",
    "| <img src=x onerror=alert(1)> |\n|---|\n| <script>alert(1)</script> |",
    "<kbd onclick=alert(1)>x</kbd>",
]


@pytest.mark.parametrize("vector", VECTORS)
def test_hostile_text_has_no_live_element(vector: str) -> None:
    def evil(target: str, *, is_embed: bool) -> Resolved | None:
        return Resolved(f'/v/"><script>{target}', is_image=is_embed)

    for links in (resolve, evil):
        rendered = render_note(vector, resolve=links, highlight=(0, len(vector)))
        assert Page(rendered.html).live == []
    assert Page(sanitise(answer_parser().render(vector))).live == []
    assert Page(render_plain(vector, highlight=(1, 5)).html).live == []
    assert Page(render_code_note(vector, language=vector).html).live == []


@pytest.mark.parametrize("vector", [v for v in VECTORS if v.startswith("<")])
def test_the_sanitiser_alone_holds(vector: str) -> None:
    assert Page(sanitise(vector)).live == []


@pytest.mark.parametrize(
    ("written", "shown"),
    [("tldr", "abstract"), ("FAQ", "question"), ("caution", "warning"), ("my-own", "my-own")],
)
def test_other_names_of_a_callout_look_as_their_kind(written: str, shown: str) -> None:
    assert page(f"> [!{written}] Title\n> Text").with_class(f"callout-{shown}")


def test_tasks_that_are_done_are_marked_for_the_eye() -> None:
    tasks = page("- [x] done\n- [ ] open\n- [X] done too\n- [-] dropped")
    assert [item["class"] for item in tasks.all("li")] == [
        "task task-done", "task", "task task-done", "task",
    ]  # fmt: skip


def test_a_footnote_has_one_number_wherever_it_is_named() -> None:
    assert page("One[^a], two[^b], one again[^a].\n\n[^a]: A.\n[^b]: B.").text.startswith(
        "One[1], two[2], one again[1]."
    )


def test_a_picture_that_is_not_there_is_named_by_its_file_not_its_size() -> None:
    assert page("![[gone.png|200]]").text.strip() == "gone.png"
    assert page("![[gone.png|a caption]]").text.strip() == "a caption"


def test_an_embedded_page_of_a_document_is_named_in_words() -> None:
    assert page("![[paper.pdf#page=2]]").text.strip() == "paper.pdf, page 2"


def test_tags_of_emphasis_work_and_any_other_html_stays_text() -> None:
    rendered = page("<u>under</u> <MARK>marked</MARK> <b>bold</b> <b class='x'>not</b> <center>no")
    assert [tag for tag, _ in rendered.elements] == ["p", "u", "mark", "b"]
    assert rendered.text.strip() == "under marked bold <b class='x'>not</b> <center>no"


def test_a_picture_written_out_as_html_is_named_and_its_signs_are_not_shown() -> None:
    rendered = page('A <img alt="the pump" src="data:image/png;base64,AAAA' + "B" * 5000 + '"> b.')
    assert rendered.text.strip() == "A Picture: the pump b."
    assert page("<img alt=x src=local.png>").text.strip() == "<img alt=x src=local.png>"
