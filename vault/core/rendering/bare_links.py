"""Addresses that stand bare in a text become links, in a time that grows with its length."""

from __future__ import annotations

from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.gfm_autolink import gfm_autolink_plugin

# The plugin looks through all text before a colon for one of these, at every colon: of
# 10,000 colons in a row 1.2 s. It begins a link nowhere else.
_SCHEMES = ("http", "https", "mailto", "xmpp")
_LONGEST_SCHEME = max(map(len, _SCHEMES))
_PROTOCOL_RULE = "gfm_autolink_protocol"

_Rule = Callable[[StateInline, bool], bool]


def bare_links(parser: MarkdownIt) -> None:
    """A markdown-it plugin: `gfm_autolink`, asked of a colon only after the name of a scheme."""
    parser.use(gfm_autolink_plugin)
    ruler = parser.inline.ruler
    rules = dict(zip(ruler.get_active_rules(), ruler.getRules(""), strict=True))
    ruler.at(_PROTOCOL_RULE, _after_a_scheme(rules[_PROTOCOL_RULE]))


def _after_a_scheme(rule: _Rule) -> _Rule:
    def asked(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 -- the parser's form
        at = state.pos
        before = max(0, at - _LONGEST_SCHEME)
        is_possible = state.src[at] == ":" and state.src.endswith(_SCHEMES, before, at)
        return is_possible and rule(state, silent)

    return asked
