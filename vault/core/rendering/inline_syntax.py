"""Obsidian's syntax inside a line: wikilinks, tags, marks, comments, a few HTML tags."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

LONGEST_WIKILINK = 500
LONGEST_COMMENT = 20_000
_WIKILINK = re.compile(rf"(!?)\[\[([^\[\]\n]{{1,{LONGEST_WIKILINK}}})\]\]")
_TAG = re.compile(r"#([\w/-]{1,200})")
_SIMPLE_TAG = re.compile(
    r"<(?:(br)[ \t]*/?|(/?)(b|del|em|i|ins|kbd|mark|s|small|strong|sub|sup|u))>", re.IGNORECASE
)
# A picture that is written out in the text, as HTML.
_DATA_PICTURE = re.compile(r"<img\s(?=[^<>]*\bsrc\s*=\s*[\"']?data:)[^<>]*>", re.IGNORECASE)
_ALT = re.compile(r"\balt\s*=\s*(?:\"([^\"]{0,200})\"|'([^']{0,200})')", re.IGNORECASE)
_COMMENTS = {"%": ("%%", "%%"), "<": ("<!--", "-->")}


def inline_syntax(parser: MarkdownIt) -> None:
    """A markdown-it plugin with the rules of this module."""
    ruler = parser.inline.ruler
    ruler.before("link", "wikilink", wikilink)
    ruler.after("wikilink", "obsidian_comment", comment)
    ruler.after("obsidian_comment", "obsidian_mark", mark)
    ruler.after("obsidian_mark", "obsidian_tag", tag)
    ruler.after("obsidian_tag", "simple_html", simple_html)
    ruler.after("simple_html", "data_picture", data_picture)


def split_wikilink(inner: str) -> tuple[str, str, str]:
    """Target, anchor and alias of what stands between the brackets."""
    place, _, alias = inner.partition("|")
    target, _, anchor = place.rstrip("\\").partition("#")
    return target.strip(), anchor.strip(), alias.strip()


def wikilink(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 -- markdown-it's call
    if state.src[state.pos] not in "[!":
        return False
    match = _WIKILINK.match(state.src, state.pos, state.posMax)
    if match is None or state.linkLevel:
        return False
    target, anchor, alias = split_wikilink(match[2])
    if not (target or anchor):
        return False
    if not silent:
        shown = alias or " > ".join(part for part in (target, *anchor.split("#")) if part)
        meta = {"target": target, "anchor": anchor}
        if match[1]:
            token = state.push("embed", "", 0)
            token.meta = meta | {"alias": alias, "shown": shown}
        else:
            state.push("wikilink_open", "a", 1).meta = meta
            _push_text(state, shown)
            state.push("wikilink_close", "a", -1)
    state.pos = match.end()
    return True


def comment(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """`%%hidden%%` and `<!-- hidden -->` leave nothing."""
    signs = _COMMENTS.get(state.src[state.pos])
    if signs is None or not state.src.startswith(signs[0], state.pos):
        return False
    begin = state.pos + len(signs[0])
    end = state.src.find(signs[1], begin, min(state.posMax, begin + LONGEST_COMMENT))
    if end < 0:
        return False
    state.pos = end + len(signs[1])
    return True


def mark(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """`==marked==`, whose inside is text with syntax of its own."""
    start, maximum = state.pos, state.posMax
    if not state.src.startswith("==", start) or state.src[start + 2 : start + 3] in ("", " ", "="):
        return False
    end = state.src.find("==", start + 2, min(maximum, start + LONGEST_COMMENT))
    if end < 0 or state.src[end - 1] in " \n":
        return False
    if not silent:
        state.push("mark_open", "mark", 1)
        state.pos, state.posMax = start + 2, end
        state.md.inline.tokenize(state)
        state.push("mark_close", "mark", -1)
    state.pos, state.posMax = end + 2, maximum
    return True


def tag(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """`#tag`, `#nested/tag`: at the start of a word, with something that is not a digit."""
    position = state.pos
    if state.src[position] != "#" or state.linkLevel:
        return False
    if position and not (state.src[position - 1].isspace() or state.src[position - 1] in "(["):
        return False
    match = _TAG.match(state.src, position, state.posMax)
    if match is None or match[1].isdigit() or not any(map(str.isalnum, match[1])):
        return False
    if not silent:
        state.push("tag_open", "a", 1).meta = {"tag": match[1]}
        _push_text(state, match.group())
        state.push("tag_close", "a", -1)
    state.pos = match.end()
    return True


def simple_html(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """`<br>` and tags of emphasis without attributes; all other HTML stays text."""
    if state.src[state.pos] != "<":
        return False
    match = _SIMPLE_TAG.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        if match[1]:
            state.push("hardbreak", "br", 0)
        elif _opens_or_closes(state, match[3].lower(), is_end=bool(match[2])):
            state.push("simple_tag", "", 0).meta = {"html": match.group().lower()}
        else:
            return False
    state.pos = match.end()
    return True


def data_picture(state: StateInline, silent: bool) -> bool:  # noqa: FBT001
    """`<img src="data:…">` becomes what stands for a picture, not a wall of signs."""
    if not state.src.startswith("<img", state.pos):
        return False
    match = _DATA_PICTURE.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        alt = _ALT.search(match.group())
        token = state.push("image", "img", 0)
        token.attrs = {"src": "data:"}
        token.content = (alt[1] or alt[2] or "") if alt else ""
    state.pos = match.end()
    return True


def _opens_or_closes(state: StateInline, name: str, *, is_end: bool) -> bool:
    """Whether a tag begins something, or ends what was begun in the same text."""
    tokens, opened = state.env.get("simple_tags", (None, {}))
    if tokens is not state.tokens:
        opened = {}
        state.env["simple_tags"] = (state.tokens, opened)
    left = opened.get(name, 0) + (-1 if is_end else 1)
    if left < 0:
        return False
    opened[name] = left
    return True


def _push_text(state: StateInline, text: str) -> Token:
    token = state.push("text", "", 0)
    token.content = text
    return token
