"""A note's body as HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any

from markdown_it.token import Token

from vault.core.rendering.anchors import anchor_id
from vault.core.rendering.block_syntax import visible_text
from vault.core.rendering.citing import Citing, cite
from vault.core.rendering.code import highlight_code
from vault.core.rendering.parsers import note_parser
from vault.core.rendering.sanitising import sanitise
from vault.core.rendering.targets import Resolve, ShowEmbedded, resolve_nothing

# What the browser jumps to: the first mark of the cited span.
CITED_ID = "cited"
_HTML_TAG = re.compile(r"<[^<>]*>")
_PARAGRAPH = re.compile(r"\S(?:[^\n]|\n(?!\s*\n|\Z))*")
_MARK = '<mark class="cited'


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A heading and the id it can be jumped to by."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class RenderedNote:
    """Clean HTML of a body.

    `title_html` is the inside of the first heading where that repeats the note's title
    (then it is not in `html`), else empty.
    """

    html: str
    title_html: str = ""
    outline: tuple[OutlineEntry, ...] = ()
    is_cited: bool = False


def render_note(
    body: str,
    *,
    resolve: Resolve = resolve_nothing,
    highlight: tuple[int, int] | None = None,
    title: str = "",
    tag_url: Callable[[str], str] | None = None,
    embedded: ShowEmbedded | None = None,
) -> RenderedNote:
    """Markdown as Obsidian's reading view shows it.

    `highlight` are characters of `body`: exactly these are wrapped in
    `<mark class="cited">`, and the first mark has the id "cited". `tag_url` makes the
    address that a tag leads to. `embedded` gives what embeds show that stand on their own.
    """
    parser = note_parser()
    env: dict[str, Any] = {"resolve": resolve, "tag_url": tag_url, "embedded": embedded}
    tokens = parser.parse(body, env)
    outline = _outline(tokens)
    span = _clamped(highlight, len(body))
    if span:
        tokens = cite(tokens, Citing(parser, env, body, *span))
    title_tokens, tokens = _split_title(_with_cards(tokens), title)
    if title_tokens:
        outline = outline[1:]
    head = parser.renderer.render(title_tokens, parser.options, env)
    html = parser.renderer.render(tokens, parser.options, env)
    return _finish(html, head, outline, is_cited=span is not None)


def render_part(
    part: str,
    *,
    resolve: Resolve = resolve_nothing,
    tag_url: Callable[[str], str] | None = None,
    embedded: ShowEmbedded | None = None,
) -> str:
    """A part of a note as it stands inside another: clean, and without ids to jump to."""
    parser = note_parser()
    env: dict[str, Any] = {"resolve": resolve, "tag_url": tag_url, "embedded": embedded}
    tokens = _with_cards(parser.parse(part, env))
    for token in tokens:
        token.attrs.pop("id", None)
    return sanitise(parser.renderer.render(tokens, parser.options, env))


def render_plain(body: str, *, highlight: tuple[int, int] | None = None) -> RenderedNote:
    """A body as it stands in the file, for notes too large to be parsed for a page."""
    start, end = _clamped(highlight, len(body)) or (0, 0)
    pieces = [escape(piece, quote=False) for piece in (body[:start], body[start:end], body[end:])]
    if end:
        pieces[1] = f'{_MARK}">{pieces[1]}</mark>'
    html = f'<pre class="plain-note" tabindex="0">{"".join(pieces)}</pre>'
    return _finish(html, "", (), is_cited=end > 0)


def render_pages(
    body: str,
    *,
    headings: Iterable[Mapping[str, Any]],
    highlight: tuple[int, int] | None = None,
) -> RenderedNote:
    """The text of a document: its pages are sections, its words are no markup."""
    span = _clamped(highlight, len(body))
    rows = [(int(row["start"]), str(row["text"])) for row in headings]
    starts = [start for start, _text in rows]
    pieces: list[str] = [_paragraphs(body, 0, starts[0] if starts else len(body), span)]
    for (start, text), end in zip(rows, [*starts[1:], len(body)], strict=False):
        line_end = body.find("\n", start, end)
        pieces.append(f'<h2 id="{anchor_id(text)}">{escape(text)}</h2>')
        pieces.append(_paragraphs(body, line_end if line_end >= 0 else end, end, span))
    html = "\n".join(piece for piece in pieces if piece)
    outline = tuple(OutlineEntry(2, text, anchor_id(text)) for _start, text in rows)
    return _finish(html, "", outline, is_cited=_MARK in html)


def render_picture(url: str, *, name: str) -> RenderedNote:
    """A picture by itself."""
    return _finish(
        f'<p><img src="{escape(url)}" alt="{escape(name)}" loading="lazy"></p>',
        "",
        (),
        is_cited=False,
    )


def _paragraphs(body: str, start: int, end: int, span: tuple[int, int] | None) -> str:
    """Paragraphs of body[start:end], with what of the span lies in each marked."""
    html: list[str] = []
    for found in _PARAGRAPH.finditer(body, start, end):
        first, last = found.span()
        cuts = [first, *(min(max(cut, first), last) for cut in span or (last, last)), last]
        before, marked, after = (escape(body[a:b], quote=False) for a, b in pairwise(cuts))
        mark = f'{_MARK}">{marked}</mark>' if marked else ""
        html.append(f"<p>{before}{mark}{after}</p>")
    return "\n".join(html)


def render_code_note(
    body: str, *, language: str, highlight: tuple[int, int] | None = None
) -> RenderedNote:
    """A source file."""
    span = _clamped(highlight, len(body))
    return _finish(highlight_code(body, language, cited=span), "", (), is_cited=span is not None)


def _clamped(highlight: tuple[int, int] | None, length: int) -> tuple[int, int] | None:
    if highlight is None:
        return None
    start, end = max(0, highlight[0]), min(length, highlight[1])
    return (start, end) if start < end else None


def _outline(tokens: list[Token]) -> tuple[OutlineEntry, ...]:
    entries = []
    for index, token in enumerate(tokens):
        # A heading inside a quote or a callout is no section of the note.
        if token.type == "heading_open" and token.level == 0 and "id" in token.attrs:
            text = visible_text(tokens[index + 1].children or []).strip()
            if text:
                entries.append(OutlineEntry(int(token.tag[1]), text, str(token.attrs["id"])))
    return tuple(entries)


def _with_cards(tokens: list[Token]) -> list[Token]:
    """Paragraphs that are one embed and nothing else become cards."""
    result: list[Token] = []
    position = 0
    while position < len(tokens):
        inline = tokens[position + 1] if position + 2 < len(tokens) else None
        children = (inline.children or []) if inline and inline.type == "inline" else []
        is_alone = [child.type for child in children] == ["embed"]
        if tokens[position].type == "paragraph_open" and is_alone:
            result.append(Token("embed_card", "", 0, meta=children[0].meta))
            position += 3
        else:
            result.append(tokens[position])
            position += 1
    return result


def _split_title(tokens: list[Token], title: str) -> tuple[list[Token], list[Token]]:
    """The inline token of a first heading that says the title, and all other tokens."""
    if len(tokens) < 3 or not title or tokens[0].type != "heading_open" or tokens[0].tag != "h1":
        return [], tokens
    shown = visible_text(_without_marks(tokens[1]))
    # A title is kept without the HTML tags that the heading may hold.
    if title.strip() not in (shown.strip(), _HTML_TAG.sub("", shown).strip()):
        return [], tokens
    return [tokens[1]], tokens[3:]


def _without_marks(inline: Token) -> list[Token]:
    return [child for child in inline.children or [] if not child.type.startswith("cited_")]


def _finish(
    html: str, head: str, outline: tuple[OutlineEntry, ...], *, is_cited: bool
) -> RenderedNote:
    """Sanitise, then name the first mark: the id is the page's own, not the text's."""
    clean, clean_head = sanitise(html), sanitise(head) if head else ""
    if is_cited:
        # Focus brings it into sight without a script, and a screen reader begins there.
        named = f'<mark id="{CITED_ID}" tabindex="-1" autofocus class="cited'
        if _MARK in clean_head:
            clean_head = clean_head.replace(_MARK, named, 1)
        else:
            clean = clean.replace(_MARK, named, 1)
    return RenderedNote(clean, clean_head, outline, is_cited)
