"""Addresses that stand bare in a text, and how little of it is looked through for them."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

from vault.core.rendering import answer_parser
from vault.core.rendering.bare_links import after_a_scheme


def read_for(text: str) -> list[str]:
    """What stood before each colon of `text` that a rule was asked about."""
    read: list[str] = []

    def rule(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 -- the parser's form
        read.append(state.pending)
        return False

    parser = MarkdownIt("js-default")
    parser.inline.ruler.push("asked", after_a_scheme(rule))
    parser.renderInline(text)
    return read


@pytest.mark.parametrize("scheme", ["http", "https", "mailto", "xmpp"])
def test_names_of_schemes_in_a_row_are_looked_at_once(scheme: str) -> None:
    assert read_for(f"{scheme}:" * 1_000) == [scheme]


def test_however_long_the_text_a_link_is_looked_for_in_a_name_alone() -> None:
    assert set(read_for("some words mailto:x https:y " * 500)) == {"mailto", "https"}


def test_colons_after_no_scheme_are_not_looked_at() -> None:
    assert read_for("so: that: ::: ftp: xhttp: (http: ") == ["http"]


@pytest.mark.parametrize(
    "text",
    ["http:http://a.example", "see http: http: and so on", "a mailto:b mailto:c", "(xmpp: *http:*"],
)
def test_what_is_no_address_stays_text_as_it_is_written(text: str) -> None:
    html = answer_parser().render(text)
    assert "href" not in html
    assert html.replace("<em>", "*").replace("</em>", "*").strip() == f"<p>{text}</p>"


@pytest.mark.parametrize("before", ["", "see ", "http: ", "(", "*", "one\n"])
def test_an_address_is_a_link_behind_whatever_may_stand_before_it(before: str) -> None:
    html = answer_parser().render(f"{before}https://a.example/b and on")
    assert 'href="https://a.example/b"' in html
