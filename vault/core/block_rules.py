"""Rules for markdown-it's block parser: Obsidian's blocks, and tables by their lines only."""

from __future__ import annotations

import re
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock

# The default of 20 drops text; deeper than this costs Python's stack.
_MOST_NESTING = 100
_DELIMITER_CELL = re.compile(r"\s*:?-+:?\s*")
_CELL_BREAK = re.compile(r"\\.|\|")


@cache
def block_parser() -> MarkdownIt:
    """CommonMark's blocks with tables, `%%` comments and `$$` formulas, no inline parsing.

    Tokens `table`, `comment` and `math` have a line map and nothing else: cells as tokens
    take 19 s for 2,000 rows of 200 cells.
    """
    parser = MarkdownIt("commonmark", {"maxNesting": _MOST_NESTING})
    parser.core.ruler.enableOnly(["normalize", "block"])
    alternatives: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.enable("table")
    parser.block.ruler.before("fence", "comment", _comment, alternatives)
    parser.block.ruler.before("fence", "math", _math, alternatives)
    return parser


def cell_count(row: str) -> int:
    """Cells of a table row: its unescaped pipes, less those at both ends, and one more."""
    row = row.strip()
    breaks = [match.start() for match in _CELL_BREAK.finditer(row) if match[0] == "|"]
    outer = bool(breaks and breaks[0] == 0) + bool(len(row) > 1 and breaks[-1:] == [len(row) - 1])
    return len(breaks) - outer + 1


def is_delimiter_row(row: str) -> bool:
    """Whether a line is the `|---|:--:|` under a table's header."""
    if "|" not in row or "-" not in row:
        return False
    cells = row.strip().removeprefix("|").removesuffix("|").split("|")
    return all(_DELIMITER_CELL.fullmatch(cell) for cell in cells)


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _table(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001 (called by markdown-it)
    below = start_line + 1
    if below >= end_line or state.sCount[below] < state.blkIndent:
        return False
    # Asked for every line of a note, so the cheapest test comes first.
    if not state.src.startswith(("|", ":", "-"), state.bMarks[below] + state.tShift[below]):
        return False
    if state.is_code_block(start_line) or state.is_code_block(below):
        return False
    header = _line(state, start_line)
    delimiter = _line(state, below)
    if "|" not in header or not is_delimiter_row(delimiter):
        return False
    if cell_count(header) != cell_count(delimiter):
        return False
    if not silent:
        _push(state, "table", start_line, _end_of_table(state, below + 1, end_line))
    return True


def _end_of_table(state: StateBlock, line: int, end_line: int) -> int:
    while line < end_line:
        if state.sCount[line] < state.blkIndent or state.isEmpty(line):
            break
        if state.is_code_block(line) or _ends_table(state, line, end_line):
            break
        line += 1
    return line


def _ends_table(state: StateBlock, line: int, end_line: int) -> bool:
    silent = True
    rules = state.md.block.ruler.getRules("blockquote")
    return any(rule(state, line, end_line, silent) for rule in rules)


def _comment(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001
    return _delimited(state, (start_line, end_line), "%%", "" if silent else "comment")


def _math(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001
    return _delimited(state, (start_line, end_line), "$$", "" if silent else "math")


def _delimited(state: StateBlock, lines: tuple[int, int], marker: str, kind: str) -> bool:
    """Lines from one that begins with the marker to the next that has it. Unclosed is text."""
    start_line, end_line = lines
    if not state.src.startswith(marker, state.bMarks[start_line] + state.tShift[start_line]):
        return False
    if marker in _line(state, start_line)[len(marker) :]:
        return False
    if state.is_code_block(start_line):
        return False
    for line in range(start_line + 1, end_line):
        if state.sCount[line] < state.blkIndent and not state.isEmpty(line):
            break
        if marker in _line(state, line):
            if kind:
                _push(state, kind, start_line, line + 1)
            return True
    return False


def _push(state: StateBlock, kind: str, start_line: int, after: int) -> None:
    token = state.push(kind, "", 0)
    token.map = [start_line, after]
    state.line = after
