"""Blocks cut into the pieces that chunks are packed from, none larger than a limit."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import regex

from vault.core.packing import Room, packed_groups
from vault.core.sentences import split_spans
from vault.core.types import Block, BlockKind

CountTokens = Callable[[str], int]

_SEEN = regex.compile(r"[^\s\p{Cf}\p{Cc}]")
_FENCE = re.compile(r"^(?P<lead>.*?)(?P<marker>`{3,}|~{3,})(?P<info>.*)$")
_MOST_INFO = 60
# More characters than these a token are not packed together, whatever they are.
_MOST_CHARACTERS = 16
_CODE = frozenset({BlockKind.FENCE, BlockKind.CODE})
_TEXT = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.QUOTE})


@dataclass(frozen=True, slots=True)
class Piece:
    """A span of the body. `opener` goes in front when a chunk begins with it, `closer` behind
    when one ends with it; tokens count both."""

    start: int
    end: int
    tokens: int
    kind: BlockKind
    opener: str = ""
    closer: str = ""
    has_blocks: bool = False

    @property
    def is_text(self) -> bool:
        """Whether its end may be repeated as overlap: no fence or table is cut by that."""
        return self.kind in _TEXT and not self.has_blocks

    @property
    def is_code(self) -> bool:
        return self.kind in _CODE


class Source:
    """A body as readers see it: without its hidden spans."""

    def __init__(self, body: str, hidden: tuple[tuple[int, int], ...], count: CountTokens) -> None:
        self.body = body
        self._hidden = hidden
        self._hidden_ends = [end for _start, end in hidden]
        self._count = count

    def visible(self, start: int, end: int) -> str:
        """The text of a span, less what is hidden in it."""
        index = bisect_right(self._hidden_ends, start)
        parts: list[str] = []
        while index < len(self._hidden) and self._hidden[index][0] < end:
            hidden_start, hidden_end = self._hidden[index]
            parts.append(self.body[start : max(start, hidden_start)])
            start = max(start, min(hidden_end, end))
            index += 1
        return "".join([*parts, self.body[start:end]])

    def tokens(self, start: int, end: int) -> int:
        """Tokens of what is seen of a span."""
        return self._count(self.visible(start, end))

    def tokens_up_to(self, limit: int, start: int, end: int) -> int:
        """The same, or more than the limit without counting where that is plain."""
        text = self.visible(start, end)
        return limit + 1 if len(text) > limit * _MOST_CHARACTERS else self._count(text)

    def tokens_of(self, text: str) -> int:
        """Tokens of a text that stands nowhere in the body."""
        return self._count(text)

    def is_blank(self, start: int, end: int) -> bool:
        """Whether nothing of a span is seen."""
        return not _SEEN.search(self.visible(start, end))


def cut_block(source: Source, block: Block, *, limit: int) -> list[Piece]:
    """Pieces of a block, in order, covering all of it that is seen.

    A block that fits stays whole. Fences and code are cut at line ends, tables between
    rows, lists and quotes between the blocks in them, text after sentences.
    """
    if source.is_blank(block.start, block.end):
        return []
    tokens = source.tokens_up_to(limit, block.start, block.end)
    if tokens <= limit:
        has_blocks = any(part.kind not in _TEXT for part in block.parts)
        return [Piece(block.start, block.end, tokens, block.kind, has_blocks=has_blocks)]
    if block.kind is BlockKind.FENCE:
        return _cut_fence(source, block, limit=limit)
    if block.kind is BlockKind.TABLE:
        return _cut_table(source, block, limit=limit)
    if block.parts:
        return [piece for part in block.parts for piece in cut_block(source, part, limit=limit)]
    if block.kind in {BlockKind.CODE, BlockKind.HTML, BlockKind.MATH}:
        return _cut_lines(source, block, block.start, limit=limit)
    return list(_cut_text(source, block.start, block.end, limit=limit, kind=BlockKind.PARAGRAPH))


def _cut_text(
    source: Source, start: int, end: int, *, limit: int, kind: BlockKind
) -> Iterator[Piece]:
    spans = split_spans(source.body, start, end, limit=limit, count=source.tokens)
    for begin, stop, tokens in spans:
        if not source.is_blank(begin, stop):
            yield Piece(begin, stop, tokens, kind)


def _cut_fence(source: Source, block: Block, *, limit: int) -> list[Piece]:
    lines = source.body[block.start : block.end].split("\n")
    found = _FENCE.match(lines[0])
    if not found:
        return _cut_lines(source, block, block.start, limit=limit)
    lead, marker = found["lead"], found["marker"]
    opener = f"{lead}{marker}{found['info'][:_MOST_INFO]}\n"
    # Under a list item the closer is indented as the item's text is.
    closer = "\n" + re.sub(r"[^>\s]", " ", lead) + marker
    spent = source.tokens_of(opener + closer)
    first_line_end = block.start + len(lines[0])
    if spent > limit // 2 or first_line_end >= block.end:
        return _cut_lines(source, block, block.start, limit=limit)
    pieces = _cut_lines(source, block, block.start, limit=limit - spent)
    return _wrapped(pieces, opener=opener, closer=closer, spent=spent)


def _cut_table(source: Source, block: Block, *, limit: int) -> list[Piece]:
    header_end = source.body.find("\n", source.body.find("\n", block.start) + 1)
    if header_end < 0 or header_end >= block.end:
        return _cut_lines(source, block, block.start, limit=limit)
    opener = source.visible(block.start, header_end) + "\n"
    spent = source.tokens_of(opener)
    if spent > limit // 2:
        return _cut_lines(source, block, block.start, limit=limit)
    # The header stays with the first row: a piece of its own would say nothing.
    pieces = _cut_lines(source, block, header_end + 1, limit=limit - spent)
    if not pieces:  # rows of blanks alone
        return _cut_lines(source, block, block.start, limit=limit)
    first = pieces[0]
    pieces[0] = Piece(block.start, first.end, first.tokens + spent, first.kind)
    return [pieces[0], *_wrapped(pieces[1:], opener=opener, closer="", spent=spent, is_rest=True)]


def _wrapped(
    pieces: list[Piece], *, opener: str, closer: str, spent: int, is_rest: bool = False
) -> list[Piece]:
    """The pieces with opener and closer, the first (of the block) and the last without."""
    last = len(pieces) - 1
    return [
        Piece(
            piece.start,
            piece.end,
            piece.tokens + spent,
            piece.kind,
            opener=opener if position or is_rest else "",
            closer=closer if position < last else "",
        )
        for position, piece in enumerate(pieces)
    ]


def _cut_lines(source: Source, block: Block, start: int, *, limit: int) -> list[Piece]:
    """Whole lines gathered up to the limit; a line that is larger is cut as text is."""
    pieces: list[Piece] = []
    lines: list[tuple[int, int, int]] = []
    reached = start
    while reached < block.end:
        line_end = source.body.find("\n", reached, block.end)
        line_end = block.end if line_end < 0 else line_end
        size = source.tokens(reached, line_end)
        if size > limit:
            pieces += _gathered_lines(source, lines, kind=block.kind, limit=limit)
            pieces += _cut_text(source, reached, line_end, limit=limit, kind=block.kind)
            lines = []
        else:
            lines.append((reached, line_end, size))
        reached = line_end + 1
    return pieces + _gathered_lines(source, lines, kind=block.kind, limit=limit)


def _gathered_lines(
    source: Source, lines: list[tuple[int, int, int]], *, kind: BlockKind, limit: int
) -> list[Piece]:
    """Pieces of lines, given as (start, end, tokens); what is blank gives none."""
    sizes = [size for _start, _end, size in lines]
    texts = [source.body[start:end] for start, end, _size in lines]
    return [
        Piece(lines[first][0], lines[end - 1][1], sum(sizes[first:end]), kind)
        for first, end in packed_groups(sizes, texts, Room(limit, limit))
        if not source.is_blank(lines[first][0], lines[end - 1][1])
    ]
