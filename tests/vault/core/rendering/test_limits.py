"""Text made to keep a parser busy is shown as written, soon."""

from __future__ import annotations

import time

import pytest

from tests.vault.core.rendering.page import Page
from vault.core.rendering import render_note

HOSTILE = {
    "brackets": "[" * 50_000,
    "pictures": "![[" * 20_000,
    "wikilinks": "[[" * 30_000,
    "quotes": ">" * 5_000 + " a",
    "comments": "<!-- x\n" * 10_000,
    "deep list": "\n".join("  " * depth + "- x" for depth in range(300)),
    "footnotes": "[^1]: x\n" * 2_000 + "[^1]" * 2_000,
    "dollars": "$a" * 30_000,
    "tags": "#a " * 20_000,
    "table": "|" + "a|" * 40 + "\n|" + "-|" * 40 + "\n" + ("|" + "a|" * 40 + "\n") * 200,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_rendered_in_a_moment(name: str) -> None:
    body = HOSTILE[name]
    started = time.process_time()
    render_note(body, highlight=(len(body) // 3, len(body) // 3 + 100))
    assert time.process_time() - started < 5


def test_a_block_of_too_many_signs_is_shown_as_written_and_can_be_cited() -> None:
    body = "intro *x*\n\n" + "[a* " * 1_500 + "\nlast words"
    start = body.index("last")
    page = Page(render_note(body, highlight=(start, start + 4)).html)
    assert page.text.count("[a* ") == 1_500
    assert page.cited == "last"
    assert page.all("em"), "the blocks around it keep their syntax"


@pytest.mark.parametrize("sign", [":", "a:", "p:"])
def test_ten_times_as_many_colons_take_no_hundred_times_as_long(sign: str) -> None:
    def seconds(length: int) -> float:
        times = []
        for _again in range(3):
            started = time.process_time()
            render_note(sign * (length // len(sign)), highlight=None)
            times.append(time.process_time() - started)
        return min(times)

    assert seconds(20_000) < 40 * seconds(2_000)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("see http://a.example/x: there", "http://a.example/x"),
        ("::: https://a.example", "https://a.example"),
        ("(mailto:a@b.example)", "mailto:a@b.example"),
    ],
)
def test_addresses_among_colons_are_links_as_before(text: str, address: str) -> None:
    assert f'href="{address}"' in render_note(text, highlight=None).html
