r"""Formulas between `\(` and `\)`, and between `\[` and `\]`, as models write them.

Answers alone: in notes these are escaped brackets, as in Obsidian.
"""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from vault.core.rendering.math import LONGEST_FORMULA

_CLOSERS = {"\\(": "\\)", "\\[": "\\]"}
# Columns from which an indented line is code.
CODE_INDENT = 4
# More than people or models write; it bounds the time of a text full of `\[`.
MOST_LINES = 100


def bracket_math(parser: MarkdownIt) -> None:
    """A markdown-it plugin with the rules of this module."""
    parser.inline.ruler.before("escape", "bracket_math_inline", bracket_math_inline)
    parser.block.ruler.before(
        "fence",
        "bracket_math_block",
        bracket_math_block,
        {"alt": ["paragraph", "blockquote", "list"]},
    )


def bracket_math_inline(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 -- markdown-it's call
    r"""`\(x\)` in a line; `\[x\]` in a line is shown on one of its own."""
    opener = state.src[state.pos : state.pos + 2]
    closer = _CLOSERS.get(opener)
    if closer is None:
        return False
    begin = state.pos + 2
    end = state.src.find(closer, begin, min(state.posMax, begin + LONGEST_FORMULA))
    if end < 0 or not state.src[begin:end].strip():
        return False
    if not silent:
        kind = "math_inline" if opener == "\\(" else "math_inline_double"
        token = state.push(kind, "math", 0)
        token.content = state.src[begin:end]
        token.markup = opener
    state.pos = end + 2
    return True


def bracket_math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    r"""`\[` at the beginning of a line to `\]` at the end of one, without an empty line."""
    if state.sCount[start] - state.blkIndent >= CODE_INDENT:
        return False
    lines: list[str] = []
    for number in range(start, min(end, start + MOST_LINES)):
        if number > start and state.sCount[number] < state.blkIndent:
            return False
        line = state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]].strip()
        if number == start:
            if not line.startswith("\\["):
                return False
            line = line[2:]
        if not line and number > start:
            return False
        lines.append(line.removesuffix("\\]"))
        if line.endswith("\\]"):
            return _is_pushed(state, start, number + 1, "\n".join(lines), silent=silent)
        if "\\]" in line:
            return False  # more text follows: the rule for lines reads it
    return False


def _is_pushed(state: StateBlock, start: int, behind: int, formula: str, *, silent: bool) -> bool:
    if not formula.strip() or "\\]" in formula:
        return False
    if not silent:
        token = state.push("math_block", "math", 0)
        token.block = True
        token.content = formula
        token.markup = "\\["
        token.map = [start, behind]
        state.line = behind
    return True
