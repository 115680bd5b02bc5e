"""Keeps the time of a page bounded, whatever its text holds."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

# The inline parser tries every rule at each of these, and looks for a partner to the end of
# the block. Paragraphs that people write hold a few dozen; 1,000 brackets in one block take
# 0.03 s, 50,000 take 4 s and `![[` as often 10 s.
MOST_SIGNS_IN_BLOCK = 1_000
MOST_SIGNS_IN_NOTE = 40_000
_SIGNS = re.compile(r"[\[!<*_`=$#%~\\&^]")


def limit_signs(parser: MarkdownIt) -> None:
    """A markdown-it plugin: blocks with too many signs are shown as they were written."""
    parser.core.ruler.before("inline", "set_aside", _set_aside)
    parser.core.ruler.after("inline", "put_back", _put_back)


def _set_aside(state: StateCore) -> None:
    left = MOST_SIGNS_IN_NOTE
    for token in state.tokens:
        if token.type != "inline":
            continue
        signs = len(_SIGNS.findall(token.content))
        left -= signs
        if signs > MOST_SIGNS_IN_BLOCK or left < 0:
            token.type = "inline_as_written"


def _put_back(state: StateCore) -> None:
    for token in state.tokens:
        if token.type == "inline_as_written":
            token.type = "inline"
            token.meta = {"is_as_written": True}
            token.children = as_written(token.content)


def as_written(content: str) -> list[Token]:
    """`content` as text without syntax."""
    children: list[Token] = []
    for number, line in enumerate(content.split("\n")):
        if number:
            children.append(Token("softbreak", "br", 0))
        text = Token("text", "", 0)
        text.content = line
        children.append(text)
    return children
