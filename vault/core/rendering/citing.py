"""Marks a span of a note's source in what is rendered from it.

Source and rendering are matched token by token. A line of a token's text is found in its
line of the source; where a span begins or ends inside a text with syntax, a private
character is put there in a trial parse, and it only tells how many visible characters
stand before it. Trial parses are thrown away, so nothing of them can reach a page.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

# A span that ends inside `**`, a link's address or a formula moves to the nearest place
# where text is; further than this it is dropped at that end.
MOST_TRIALS = 40
LONG_BLOCK = 5_000
FEWER_TRIALS = 6
_SENTINELS = range(0xF0000, 0xF00FF)
_LEAVES = frozenset({"text", "text_special", "code_inline"})
_BREAKS = frozenset({"softbreak", "hardbreak"})
_ATOMS = frozenset({"math_inline", "math_inline_double", "image", "embed"})
_ATOM = "\ufffc"


@dataclass(slots=True)
class Citing:
    """The span `source[start:end]`, and what is needed to find it in tokens."""

    parser: MarkdownIt
    env: dict[str, Any]
    source: str
    start: int
    end: int
    is_found: bool = False
    lines: list[str] = field(init=False)
    line_starts: list[int] = field(init=False)
    # Table cells of one line are looked for from left to right.
    columns: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lines = self.source.split("\n")
        self.line_starts = []
        position = 0
        for line in self.lines:
            self.line_starts.append(position)
            position += len(line) + 1


def cite(tokens: list[Token], citing: Citing) -> list[Token]:
    """`tokens` with the cited text wrapped in `cited_open` and `cited_close`.

    Where nothing visible was found (a span inside a formula or a comment), an empty
    anchor stands before the block that holds the span.
    """
    folds: list[Token] = []
    previous = ""
    for token in tokens:
        was_found = citing.is_found
        if token.type == "callout_open":
            folds.append(token)
        elif token.type == "callout_close":
            folds.pop()
        elif token.type == "inline":
            _cite_inline(token, citing, is_cell=previous in {"th_open", "td_open"})
        elif token.type in {"fence", "code_block"}:
            _cite_code(token, citing)
        if (citing.is_found and not was_found) or token.meta.get("cited"):
            for fold in folds:
                fold.meta["is_open"] = True
        previous = token.type
    return tokens if citing.is_found else _with_anchor(tokens, citing)


def _cite_inline(token: Token, citing: Citing, *, is_cell: bool) -> None:
    places = _places(token, citing, first_line=0, is_cell=is_cell)
    span = _span_of(places, citing)
    if span is None or not token.children:
        return
    visible = _visible_span(token, citing, span)
    if visible is not None:
        token.children = _wrapped(token.children, *visible)
        citing.is_found = True
        token.meta["cited"] = visible


def _cite_code(token: Token, citing: Citing) -> None:
    first = 1 if token.type == "fence" else 0
    span = _span_of(_places(token, citing, first_line=first, is_cell=False), citing)
    if span is not None and token.content[slice(*span)].strip():
        token.meta["cited"] = span
        citing.is_found = True


def _span_of(places: list[int], citing: Citing) -> tuple[int, int] | None:
    """The characters of a token's content that stand in the cited span."""
    inside = [index for index, place in enumerate(places) if citing.start <= place < citing.end]
    return (inside[0], inside[-1] + 1) if inside else None


def _places(token: Token, citing: Citing, *, first_line: int, is_cell: bool) -> list[int]:
    """For each character of the token's content, its offset in the source.

    Empty when the token does not touch the span or its text cannot be found again.
    """
    if token.map is None or not _may_touch(token.map, citing):
        return []
    places: list[int] = []
    for number, part in enumerate(token.content.split("\n"), start=token.map[0] + first_line):
        if number >= len(citing.lines):
            return places
        columns = _columns(part, number, citing, is_cell=is_cell)
        if columns is None:
            return []
        start = citing.line_starts[number]
        places.extend(start + column for column in columns)
        places.append(start + (columns[-1] + 1 if columns else len(citing.lines[number])))
    return places[: len(token.content)]


def _may_touch(lines: Sequence[int], citing: Citing) -> bool:
    first = citing.line_starts[min(lines[0], len(citing.line_starts) - 1)]
    behind = citing.line_starts[lines[1]] if lines[1] < len(citing.line_starts) else None
    return first < citing.end and (behind is None or behind > citing.start)


def _columns(part: str, number: int, citing: Citing, *, is_cell: bool) -> list[int] | None:
    """Where each character of `part` stands in its line of the source."""
    line = citing.lines[number]
    if not is_cell:
        # Quote signs and indentation stand in front; the text is the rest of the line.
        column = line.rfind(part.rstrip())
        return list(range(column, column + len(part))) if column >= 0 else None
    columns: list[int] = []
    column = citing.columns.get(number, 0)
    escaped = part.replace("|", "\\|")
    start = line.find(escaped, column)
    if start < 0:
        start, escaped = line.find(part, column), part
    if start < 0:
        return None
    for index, character in enumerate(escaped, start=start):
        if character == "\\" and line[index + 1 : index + 2] == "|" and escaped != part:
            continue
        columns.append(index)
    citing.columns[number] = start + len(escaped)
    return columns


def _visible_span(token: Token, citing: Citing, span: tuple[int, int]) -> tuple[int, int] | None:
    children = token.children or []
    if token.meta.get("is_as_written"):
        return span
    whole = _visible(children)
    start = _visible_offset(token.content, span[0], 1, whole, citing)
    end = _visible_offset(token.content, span[1], -1, whole, citing)
    if start is None or end is None:
        return None
    if start > end:
        # Both ends left a formula, past each other: it is what stands between them.
        start, end = end + whole[end:start].count(" "), start
    return (start, end) if whole[start:end].strip() else None


def _visible_offset(
    content: str, position: int, step: int, whole: str, citing: Citing
) -> int | None:
    """How many visible characters stand before `content[position]`, or near it in `step`."""
    sentinel = next(chr(code) for code in _SENTINELS if chr(code) not in content)
    for trial in range(MOST_TRIALS if len(content) < LONG_BLOCK else FEWER_TRIALS):
        place = position + trial * step
        if place <= 0:
            return 0
        if place >= len(content):
            return len(whole)
        shown = _visible(_trial_parse(content[:place] + sentinel + content[place:], citing))
        offset = shown.find(sentinel)
        if offset >= 0 and shown[:offset] + shown[offset + 1 :] == whole:
            return offset
    return None


def _trial_parse(content: str, citing: Citing) -> list[Token]:
    env = citing.env | {"footnotes": copy.deepcopy(citing.env.get("footnotes", {}))}
    tokens: list[Token] = []
    citing.parser.inline.parse(content, citing.parser, env, tokens)
    return tokens


def _visible(children: Sequence[Token]) -> str:
    return "".join(_shown(token) for token in children)


def _shown(token: Token) -> str:
    if token.type in _LEAVES:
        return token.content
    if token.type in _BREAKS:
        return "\n"
    return _ATOM if token.type in _ATOMS else ""


def _wrapped(children: Sequence[Token], start: int, end: int) -> list[Token]:
    """`children` with the visible characters from `start` to `end` wrapped."""
    wrapped: list[Token] = []
    offset = 0
    for token in children:
        length = len(_shown(token))
        first, last = max(start - offset, 0), min(end - offset, length)
        offset += length
        if first >= last or token.type in _BREAKS:
            wrapped.append(token)
        elif token.type in _ATOMS or (first == 0 and last == length):
            wrapped.extend(_between_marks(token))
        else:
            wrapped.extend(_cut(token, first, last))
    return wrapped


def _cut(token: Token, first: int, last: int) -> Iterator[Token]:
    content = token.content
    for piece, is_cited in (
        (content[:first], False),
        (content[first:last], True),
        (content[last:], False),
    ):
        if piece:
            part = copy.copy(token)
            part.content = piece
            yield from _between_marks(part) if is_cited else [part]


def _between_marks(token: Token) -> list[Token]:
    return [Token("cited_open", "mark", 1), token, Token("cited_close", "mark", -1)]


def _with_anchor(tokens: list[Token], citing: Citing) -> list[Token]:
    place = len(tokens)
    for index, token in enumerate(tokens):
        if token.level == 0 and token.map and token.nesting >= 0 and _may_touch(token.map, citing):
            place = index
            break
    return [*tokens[:place], Token("cited_anchor", "mark", 0), *tokens[place:]]
