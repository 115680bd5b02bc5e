"""A heading as people read it: no markup, no addresses."""

from __future__ import annotations

import re
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MOST_CHARACTERS = 1000
_MARKUP = re.compile(r"[\\`*_\[\]<>!&=~%^]")
_HIDDEN = re.compile(r"<!--.*?-->|%%.*?%%", re.DOTALL)
_WIKILINK = re.compile(r"!?\[\[([^\[\]\n|]{0,500})(?:\|([^\[\]\n]{0,500}))?\]\]")
_PAIRED = re.compile(r"(==|~~)([^=~\n]{1,500})\1")
_ANCHOR = re.compile(r"\s\^[A-Za-z0-9-]+\s*$")


def heading_text(source: str) -> str:
    """Text of a heading's source, one line, at most 1,000 characters of it."""
    source = source[:_MOST_CHARACTERS]
    if _MARKUP.search(source):
        source = _HIDDEN.sub("", source)
        source = _WIKILINK.sub(_link_text, source)
        source = _PAIRED.sub(r"\2", source)
        source = _ANCHOR.sub("", source)
        source = "".join(_texts(_inline_parser().parseInline(source)))
    return " ".join(source.split())


@cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark")


def _link_text(match: re.Match[str]) -> str:
    shown = match[2] or match[1].rstrip("\\").replace("#", " ").strip()
    # Brackets or stars in a name are no markup.
    return re.sub(r"([\\`*_\[\]<>&])", r"\\\1", shown)


def _texts(tokens: list[Token]) -> list[str]:
    texts: list[str] = []
    for token in tokens:
        if token.children is not None:
            texts += _texts(token.children)
        elif token.type in {"text", "code_inline"}:
            texts.append(token.content)
        elif token.type in {"softbreak", "hardbreak"}:
            texts.append(" ")
    return texts
