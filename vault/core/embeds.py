"""The part of a note that an embed shows: all of it, a section, or a block."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from vault.core.links import heading_at
from vault.core.markdown import parse_markdown
from vault.core.sections import sections_of
from vault.core.tokens import estimate_tokens
from vault.core.types import Heading

_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]")
_EMPTY_LINE = re.compile(r"\n[ \t]*\n")
_BLANK = re.compile(r"\s(?=\S*$)")
# Fewer tokens of an embed say nothing about it.
_LEAST_EXCERPT = 12


def embedded_span(
    body: str, headings: Iterable[Mapping[str, Any]], anchor: str
) -> tuple[int, int] | None:
    """Characters of `body` that `![[Note#anchor]]` shows; None where there is no such part.

    `headings` are {level, text, start, line}. `^name` is the paragraph or list item that
    ends with it, or the block above when the name stands alone.
    """
    if not anchor:
        return 0, len(body)
    block = anchor.rpartition("#")[2].strip()
    if block.startswith("^"):
        return _block_span(body, block[1:])
    rows = list(headings)
    listed = [Heading(row["level"], row["text"], row["start"], row["line"]) for row in rows]
    found = heading_at(anchor, listed, body=body)
    for section in sections_of(rows, length=len(body)) if found else ():
        if found and section.start == found.start:
            return section.start, section.end
    return None


def shown_text(part: str) -> str:
    """A part of a body without what no reader sees."""
    pieces: list[str] = []
    reached = 0
    # A line first: a rule at the top of a part is no header of a file.
    for start, end in parse_markdown("\n" + part, path="part.md").hidden:
        pieces.append(part[reached : max(reached, start - 1)])
        reached = end - 1
    return "".join([*pieces, part[reached:]]).strip()


def excerpt_end(text: str, *, most_tokens: int) -> int:
    """Where to cut an embedded text so that it has at most so many tokens: after a word.

    All of it when it fits; 0 when there is no room for more than a few words.
    """
    if estimate_tokens(text) <= most_tokens:
        return len(text)
    if most_tokens < _LEAST_EXCERPT:
        return 0
    fits, over = 0, len(text)
    while over - fits > 1:
        middle = (fits + over) // 2
        if estimate_tokens(text[:middle]) <= most_tokens:
            fits = middle
        else:
            over = middle
    blank = _BLANK.search(text[:fits])
    return blank.start() if blank and blank.start() > fits // 2 else fits


def _block_span(body: str, name: str) -> tuple[int, int] | None:
    mark = re.compile(rf"(?:^|(?<=\s))\^{re.escape(name)}[ \t]*$", re.MULTILINE | re.IGNORECASE)
    found = mark.search(body) if name else None
    if found is None:
        return None
    line_start = body.rfind("\n", 0, found.start()) + 1
    if body[line_start : found.start()].strip():
        return _block_start(body, line_start), found.start()
    end = len(body[:line_start].rstrip())
    return (_paragraph_start(body, end), end) if end else None


def _block_start(body: str, line_start: int) -> int:
    """Where the list item or paragraph of a line begins."""
    first = _paragraph_start(body, line_start)
    position = line_start
    while position >= first:
        if _LIST_ITEM.match(body, position):
            return position
        if position <= first:
            break
        position = body.rfind("\n", 0, position - 1) + 1
    return first


def _paragraph_start(body: str, end: int) -> int:
    """After the last empty line before `end`."""
    last = 0
    for found in _EMPTY_LINE.finditer(body, 0, end):
        last = found.end()
    return last
