"""Addresses that stand bare in a text become links, in a time that grows with its length."""

from __future__ import annotations

from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin

# The plugin looks through all text before a colon for one of these, at every colon: of
# 10,000 colons in a row 1.2 s, of as many "http:" as long. It begins a link nowhere else than
# behind these signs, or at the start.
_SCHEMES = ("http", "https", "mailto", "xmpp")
_LONGEST_SCHEME = max(map(len, _SCHEMES))
_BEFORE = " \t\r\n*_~("
_PROTOCOL_RULE = "gfm_autolink_protocol"

Rule = Callable[[StateInline, bool], bool]


def bare_links(parser: MarkdownIt) -> None:
    """A markdown-it plugin: `gfm_autolink`, asked of a colon only after the name of a scheme."""
    parser.use(gfm_autolink_plugin)
    ruler = parser.inline.ruler
    rules = dict(zip(ruler.get_active_rules(), ruler.getRules(""), strict=True))
    ruler.at(_PROTOCOL_RULE, after_a_scheme(rules[_PROTOCOL_RULE]))


def after_a_scheme(rule: Rule) -> Rule:
    """`rule`, asked only of a colon that ends the name of a scheme which stands for itself, and
    then with no more text before it than that name."""

    def asked(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 -- the parser's form
        before = _before_scheme(state.src, state.pos)
        if before is None or (before and state.src[before - 1] not in _BEFORE):
            return False
        name = state.src[before : state.pos]
        if state.pending.endswith(name) and state.pending != name:
            state.pending = state.pending.removesuffix(name)
            state.pushPending()
            state.pending = name
        return rule(state, silent)

    return asked


def _before_scheme(text: str, colon: int) -> int | None:
    """Where the name of a scheme begins that ends at `colon`; None: there is none."""
    if text[colon] != ":":
        return None
    start = max(0, colon - _LONGEST_SCHEME)
    found = [name for name in _SCHEMES if text.endswith(name, start, colon)]
    return colon - len(found[0]) if found else None
