"""Every note at hand becomes a page on which nothing can act, whatever is in it."""

from __future__ import annotations

from tests.cases.ingested import field_files
from tests.vault.core.rendering.page import Page
from vault.core.decoding import decode_note
from vault.core.markdown import parse_markdown
from vault.core.rendering import render_note
from vault.core.scrub import scrub

LONGEST = 200_000


def test_every_note_renders_with_nothing_live_and_its_cited_words() -> None:
    seen = 0
    for path in field_files():
        text = decode_note(path.read_bytes()).text
        if text is None or len(text) > LONGEST:
            continue
        note = parse_markdown(scrub(text).text, path=path.name)
        middle = (len(note.body) // 3, len(note.body) // 3 + 200)
        rendered = render_note(note.body, highlight=middle, title=note.title)
        plain = render_note(note.body, title=note.title)
        page = Page(rendered.html)
        assert page.live == [], path
        assert page.text == Page(plain.html).text, path
        assert (rendered.html + rendered.title_html).count('id="cited"') == rendered.is_cited, path
        seen += 1
    assert seen > 0
