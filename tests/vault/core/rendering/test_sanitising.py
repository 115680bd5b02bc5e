"""The allow-list lets our own HTML through, and nothing that acts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vault.core.rendering.page import Page
from vault.core.rendering import sanitise

KEPT = [
    '<a class="cite" data-n="2" href="/x" aria-label="Source 2">2</a>',
    '<mark class="cited">x</mark>',
    '<details class="callout" open=""><summary>t</summary>x</details>',
    '<img src="/vaults/a/files/b.png" alt="b" width="20" loading="lazy">',
    '<pre tabindex="0"><code><span class="k">def</span></code></pre>',
    '<ol start="3"><li>x</li></ol>',
    '<span class="box" role="img" aria-label="done"></span>',
    '<table><thead><tr><th scope="col" class="align-right">x</th></tr></thead></table>',
]


@pytest.mark.parametrize("html", KEPT)
def test_our_own_elements_keep_what_they_need(html: str) -> None:
    before, after = Page(html).elements, Page(sanitise(html)).elements
    assert [tag for tag, _ in before] == [tag for tag, _ in after]
    for (_, wanted), (_, got) in zip(before, after, strict=True):
        assert wanted.items() <= got.items()


def test_every_link_tells_the_other_side_nothing() -> None:
    for href in ("/x", "https://example.org", "mailto:a@example.org"):
        (link,) = Page(sanitise(f'<a href="{href}" rel="opener" target="_blank">x</a>')).all("a")
        assert set(link["rel"].split()) == {"noreferrer", "nofollow", "noopener"}
        assert "target" not in link


@pytest.mark.parametrize(
    "source",
    ["https://evil.example/a.png", "//evil.example/a.png", "/\\evil.example/a.png",
     "data:image/png;base64,AAAA", "javascript:alert(1)", "a.png", "\t//evil.example/a.png", ""],
)  # fmt: skip
def test_pictures_of_elsewhere_are_not_loaded(source: str) -> None:
    assert [attrs for attrs in Page(sanitise(f'<img src="{source}">')).all("img")
            if "src" in attrs] == []  # fmt: skip


@pytest.mark.parametrize(
    "scheme", ["javascript", "JAVASCRIPT", "java\nscript", "vbscript", "data", "file", "blob"]
)
def test_links_lead_to_pages_and_mail_only(scheme: str) -> None:
    (link,) = Page(sanitise(f'<a href="{scheme}:x">x</a>')).all("a")
    assert "href" not in link


@pytest.mark.parametrize(
    "tag", ["script", "style", "iframe", "object", "embed", "form", "input", "button", "base",
            "meta", "link", "svg", "video", "audio", "template", "noscript", "frameset"]
)  # fmt: skip
def test_elements_that_act_are_gone(tag: str) -> None:
    page = Page(sanitise(f"<p>before</p><{tag} src=x href=x onload=alert(1)>in</{tag}>after"))
    assert page.all(tag) == []
    assert "before" in page.text


PIECES = st.sampled_from(
    ["<", ">", "</", "script", "img", " src=", "onerror=alert(1)", '"', "'", "<svg", "<math", "<mi",
     "<!--", "-->", "<style", "javascript:", "&lt;", "&#106;", "<a href=", "/", "\0", "<p>", "x"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=20).map("".join))
def test_no_soup_of_tags_comes_alive(html: str) -> None:
    clean = sanitise(html)
    assert Page(clean).live == []
    assert sanitise(clean) == clean
