"""An answer's Markdown as HTML, citation marks as links, nothing that runs or loads.

Marks are found in text tokens after parsing, never in the raw string: a mark in code, in a
formula or in a link is none. An answer is rendered block by block, so that the blocks of a
stream, put together, are what a later page shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any
from urllib.parse import urlsplit

import regex
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from chat.core.citations import (
    NOT_JUDGED,
    Citation,
    Judgements,
    Quotable,
    cite,
    sentence_of,
)
from chat.core.marks import find_markers, is_marker
from vault.core.rendering import answer_parser, sanitise

Passages = Mapping[int, Quotable]

# Numbers that stay together on a line with the words before them; more may be too wide for one.
MOST_HELD = 4
# White space, or a character as a reader sees one.
_LAST = regex.compile(r"(?:[ \t]+|\X)\Z")
_NO_BRACKETS = str.maketrans("[]【】［］", "()()()")
# A number as _render_cite writes it. Nothing else can be: in text and in attributes `<` and `"`
# are escaped.
_CITE = regex.compile(
    r'(?P<head><a class="cite[^"]*" data-n="(?P<number>\d+)" data-where="[^"]*" )'
    r'href="[^"?]*(?P<span>\?span=\d+-\d+)?[^"]*" aria-label="(?P<label>[^"]*)"'
)


@dataclass
class Rendered:
    """HTML of an answer or of a block of it, and the citations in it."""

    html: str = ""
    citations: list[Citation] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SourceBlock:
    """A top-level block of Markdown: its first line, from 0, and its tokens."""

    line: int
    tokens: Sequence[Token]


def render_answer(
    text: str, passages: Iterable[Quotable], judged: Judgements = NOT_JUDGED
) -> Rendered:
    """The whole answer `text`: its blocks, one after the other. Of citations that were not
    `judged`, words tell whether they are weak."""
    by_number = {passage.number: passage for passage in passages}
    whole = Rendered()
    for block in split_blocks(text):
        part = render_block(block, by_number, judged)
        whole.html += part.html
        whole.citations += part.citations
    return whole


def lead_to_cards(html: str, cards: Mapping[int, str]) -> str:
    """`html` of an answer whose numbers in `cards` lead to these ids on its page.

    For passages whose note is gone: their card is all that is left to read.
    """

    def lead(chip: regex.Match[str]) -> str:
        card = cards.get(int(chip["number"]))
        if card is None:
            return chip[0]
        span = f'data-span="{chip["span"]}" ' if chip["span"] else ""
        label = f'aria-label="{chip["label"]} (its note is gone)"'
        return f'{chip["head"]}href="#{escape(card)}" {span}{label}'

    return _CITE.sub(lead, html) if cards else html


def split_blocks(text: str) -> list[SourceBlock]:
    """The top-level blocks of `text`. Parsed from a block's first line, the rest is equal."""
    blocks: list[SourceBlock] = []
    current: list[Token] = []
    for token in _PARSER.parse(text):
        current.append(token)
        if token.level == 0 and token.nesting <= 0:
            line = current[0].map[0] if current[0].map else 0
            blocks.append(SourceBlock(line, current))
            current = []
    return blocks


def render_block(
    block: SourceBlock, passages: Passages, judged: Judgements = NOT_JUDGED
) -> Rendered:
    """Safe HTML of one block."""
    citations: list[Citation] = []

    def chips(numbers: Sequence[int], sentence: str) -> list[Token]:
        found = [cite(passages[number], sentence, judged) for number in numbers]
        citations.extend(found)
        return [_chip(citation, passages[citation.number]) for citation in found]

    tokens = [_with_chips(token, passages, chips) for token in block.tokens]
    html = _PARSER.renderer.render(tokens, _PARSER.options, {})
    return Rendered(sanitise(html), citations)


def _with_chips(
    token: Token, passages: Passages, chips: Callable[[Sequence[int], str], list[Token]]
) -> Token:
    """`token` with the marks of its text replaced by the `chips` of a sentence."""
    if token.type != "inline" or not token.children:
        return token
    children = list(_unlink_marks(token.children))
    plains = list(_plain_texts(children))
    plain = "".join(plains)
    markers = find_markers(plain, exists=passages.__contains__)
    if not markers:
        return token.copy(children=children)
    done, at = [], 0
    for child, shown in zip(children, plains, strict=True):
        length = len(shown)
        inside = [m for m in markers if at <= m.start and m.end <= at + length]
        if child.type == "text" and inside:
            for part in _split(child.content, at, inside):
                if isinstance(part, str):
                    done.append(_text(part))
                elif part.numbers:
                    sentence = sentence_of(plain, markers, part)
                    _hold(done, chips(part.numbers, sentence))
        else:
            done.append(child)
        at += length
    return token.copy(children=done)


def _hold(done: list[Token], chips: list[Token]) -> None:
    """Add `chips` such that no line ends between what stands before them and the first ones.

    Elements do it, not signs: what a reader copies is the text as it was.
    """
    held: list[Token] = []
    if done and done[-1].info == "held_close":
        done.pop()
        opened = next(i for i in range(len(done) - 1, -1, -1) if done[i].info == "held_open")
        held = done[opened + 1 :]
        del done[opened:]
    elif done and done[-1].type == "text":
        before, end = _split_end(done.pop().content)
        done += [_text(before)] if before else []
        held = [_text(end)]
    room = max(0, MOST_HELD - sum(token.type == "cite" for token in held))
    if held:
        done += [_tag("held_open", '<span class="held">'), *held, *chips[:room]]
        done.append(_tag("held_close", "</span>"))
    done += chips[room:] if held else chips


def _split_end(text: str) -> tuple[str, str]:
    """`text` before its last character, or before the white space at its end."""
    end = _LAST.search(text)
    at = end.start() if end else len(text)
    return text[:at], text[at:]


def _unlink_marks(children: Sequence[Token]) -> Iterator[Token]:
    """`[2](https://…)` must not look like a source: it becomes text, its address shown."""
    index = 0
    while index < len(children):
        link = children[index : index + 3]
        if (
            [token.type for token in link] == ["link_open", "text", "link_close"]
            and link[0].info != "auto"
            and is_marker(link[1].content)
        ):
            yield _text(f"[{link[1].content}] ({link[0].attrGet('href')})")
            index += 3
        else:
            yield children[index]
            index += 1


def _plain_texts(tokens: Sequence[Token]) -> Iterator[str]:
    """What each token adds to a sentence. A mark in code or in a link stays invisible."""
    links = 0
    for token in tokens:
        links += token.nesting if token.type in {"link_open", "link_close"} else 0
        if token.type in {"softbreak", "hardbreak"}:
            yield "\n"
        elif token.type == "code_inline" or (token.type == "text" and links):
            yield token.content.translate(_NO_BRACKETS)
        else:
            yield token.content if token.type == "text" else ""


def _split(content: str, offset: int, markers: Sequence[Any]) -> Iterator[Any]:
    at = 0
    for marker in markers:
        if content[at : marker.start - offset]:
            yield content[at : marker.start - offset]
        yield marker
        at = marker.end - offset
    if content[at:]:
        yield content[at:]


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _tag(name: str, html: str) -> Token:
    return Token("simple_tag", "", 0, info=name, meta={"html": html})


def _chip(citation: Citation, passage: Quotable) -> Token:
    where = " › ".join((passage.vault_name, *citation.headings))
    meta = {"citation": citation, "title": passage.title, "where": where}
    return Token("cite", "", 0, meta=meta)


def _render_cite(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any
) -> str:
    citation: Citation = tokens[index].meta["citation"]
    weak = citation.quote.weak
    label = f"Source {citation.number}: {tokens[index].meta['title']}"
    if weak:
        label += " (may not support this)"
    href = f'href="{escape(citation.url)}" ' if citation.url else ""
    where = escape(tokens[index].meta["where"])
    return (
        f'<a class="cite{" weak" if weak else ""}" data-n="{citation.number}" '
        f'data-where="{where}" {href}aria-label="{escape(label)}">{citation.number}</a>'
    )


def _render_link_open(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any
) -> str:
    """A link leads out of the product, after a click. What is no such address is text."""
    href = str(tokens[index].attrGet("href") or "")
    return f'<a class="outside" href="{escape(href)}">' if _host(href) else "<span>"


def _render_link_close(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: Any
) -> str:
    """Behind a link stands where it leads, unless its text says so already."""
    opening = next(i for i in range(index, -1, -1) if tokens[i].type == "link_open")
    host = _host(str(tokens[opening].attrGet("href") or ""))
    if not host:
        return "</span>"
    says_so = any(host in token.content for token in tokens[opening:index])
    return "</a>" if says_so else f'</a><span class="link-host"> ({escape(host)})</span>'


def _host(href: str) -> str:
    """The host of a web address or the address of a mail; empty for anything else."""
    try:
        parts = urlsplit(href)
        if parts.scheme in {"http", "https"}:
            return parts.hostname or ""
    except ValueError:
        return ""
    return parts.path if parts.scheme == "mailto" else ""


def _make_parser() -> MarkdownIt:
    parser = answer_parser()
    # "[1]: text" is a citation and a text, not a link definition that vanishes.
    parser.disable("reference")
    parser.add_render_rule("cite", _render_cite)
    parser.add_render_rule("link_open", _render_link_open)
    parser.add_render_rule("link_close", _render_link_close)
    return parser


_PARSER = _make_parser()
