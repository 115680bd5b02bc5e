"""The two parsers: of notes, with Obsidian's syntax, and of answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from vault.core.rendering.bare_links import bare_links
from vault.core.rendering.block_syntax import answer_blocks, block_syntax
from vault.core.rendering.bracket_math import bracket_math
from vault.core.rendering.inline_syntax import inline_syntax
from vault.core.rendering.limits import limit_signs
from vault.core.rendering.render_rules import add_render_rules

# markdown-it drops text that is nested deeper. 60 levels of lists; twice as deep would come
# near Python's own limit.
DEEPEST_NESTING = 120


@lru_cache(maxsize=1)
def note_parser() -> MarkdownIt:
    """Parses notes. Shared: give every parse its own `env`, with `resolve` in it."""
    return _parser(footnote_plugin, inline_syntax, block_syntax)


def answer_parser() -> MarkdownIt:
    """A new parser of what a model wrote: no wikilinks, no tags, no pictures of the vault."""
    return _parser(bracket_math, answer_blocks)


def _parser(*syntax: Callable[[MarkdownIt], None]) -> MarkdownIt:
    options = {"html": False, "breaks": True, "maxNesting": DEEPEST_NESTING}
    parser = MarkdownIt("js-default", options)
    parser.use(bare_links)
    # "$50 to $100" is money: a formula has no space or digit at the outside of its dollars.
    parser.use(
        dollarmath_plugin,
        allow_labels=False,
        allow_space=False,
        allow_digits=False,
        double_inline=True,
    )
    parser.use(limit_signs)
    for plugin in syntax:
        parser.use(plugin)
    add_render_rules(parser)
    return parser
