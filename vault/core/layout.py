"""The blocks of a note by their lines: what may be cut where, what is code, what is text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from markdown_it.token import Token

from vault.core.block_rules import block_parser
from vault.core.lines import LineMap
from vault.core.types import Block, BlockKind

# A picture written into the text: its payload says nothing to a reader or to a model.
_PAYLOAD = re.compile(r"(?<=[\w+.-])(?:;[\w.-]+=[\w.-]+)*;base64,[A-Za-z0-9+/=_%-]{40,}")
_KINDS = {
    "paragraph_open": BlockKind.PARAGRAPH,
    "heading_open": BlockKind.HEADING,
    "fence": BlockKind.FENCE,
    "code_block": BlockKind.CODE,
    "table": BlockKind.TABLE,
    "bullet_list_open": BlockKind.LIST,
    "ordered_list_open": BlockKind.LIST,
    "blockquote_open": BlockKind.QUOTE,
    "html_block": BlockKind.HTML,
    "math": BlockKind.MATH,
    "comment": BlockKind.COMMENT,
    "hr": BlockKind.RULE,
}
_CONTAINERS = frozenset({BlockKind.LIST, BlockKind.QUOTE})


@dataclass(frozen=True, slots=True)
class Region:
    """Lines whose text is read inline. A table is read row by row."""

    start: int
    end: int
    kind: BlockKind


@dataclass(frozen=True, slots=True)
class SourceHeading:
    """A heading outside lists and quotes, its text still with markup."""

    level: int
    source: str
    start: int
    line: int


@dataclass(slots=True)
class Layout:
    """Blocks in order and without gaps but blank lines; regions and headings in order."""

    lines: LineMap
    payloads: list[tuple[int, int]]
    blocks: list[Block] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    headings: list[SourceHeading] = field(default_factory=list)


def read_layout(body: str) -> Layout:
    """Read the blocks of a body with markdown-it's line maps. Offsets are characters of body."""
    payloads = [match.span() for match in _PAYLOAD.finditer(body)] if ";base64," in body else []
    # Payloads hold no line end, so the lines of the lean text are those of the body.
    lean = _PAYLOAD.sub("", body) if payloads else body
    layout = Layout(LineMap(body), payloads)
    tokens = block_parser().parse(lean)
    _read_regions(layout, tokens, body)
    _read_headings(layout, tokens)
    _Blocks(layout, body).read(tokens)
    return layout


def _read_regions(layout: Layout, tokens: list[Token], body: str) -> None:
    for token in tokens:
        if not token.map:
            continue
        start, end = (layout.lines.start_of(line) for line in token.map)
        if token.type == "inline":
            layout.regions.append(Region(start, end, BlockKind.PARAGRAPH))
        elif token.type in {"table", "html_block", "comment"}:
            layout.regions.append(Region(start, end, _KINDS[token.type]))


def _read_headings(layout: Layout, tokens: list[Token]) -> None:
    for position, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            layout.headings.append(
                SourceHeading(
                    level=int(token.tag[1]),
                    source=tokens[position + 1].content,
                    start=layout.lines.start_of(token.map[0]),
                    line=token.map[0] + 1,
                )
            )


@dataclass(slots=True)
class _Blocks:
    layout: Layout
    body: str

    def read(self, tokens: list[Token]) -> None:
        blocks: list[Block] = []
        reached = 0
        opened: list[tuple[BlockKind, int, int]] = []  # of the container at level 0
        leaves: list[Block] = []
        for token in tokens:
            kind = _KINDS.get(token.type)
            if kind is None or token.map is None:
                continue
            start, end = (self.layout.lines.start_of(line) for line in token.map)
            if token.level > 0:
                if kind not in _CONTAINERS:
                    leaves.append(Block(kind, start, end))
                continue
            self._close(blocks, opened, leaves)
            leaves = []
            opened = [(kind, start, end)]
            blocks += self._gap(reached, start)
            reached = max(reached, end)
        self._close(blocks, opened, leaves)
        blocks += self._gap(reached, len(self.body))
        self.layout.blocks = sorted(blocks, key=lambda block: block.start)

    def _close(
        self, blocks: list[Block], opened: list[tuple[BlockKind, int, int]], leaves: list[Block]
    ) -> None:
        for kind, start, end in opened:
            trimmed = self._trimmed(kind, start, end)
            if trimmed:
                parts = tuple(self._parts(trimmed, leaves)) if kind in _CONTAINERS else ()
                blocks.append(Block(kind, trimmed.start, trimmed.end, parts))

    def _parts(self, container: Block, leaves: list[Block]) -> list[Block]:
        """The leaf blocks of a container, with the lines between them as paragraphs."""
        parts: list[Block] = []
        reached = container.start
        for leaf in leaves:
            if leaf.start < reached:
                continue
            parts += self._gap(reached, leaf.start)
            end = min(leaf.end, container.end)
            trimmed = self._trimmed(leaf.kind, leaf.start, end)
            parts += [trimmed] if trimmed else []
            reached = max(reached, end)
        return parts + self._gap(reached, container.end)

    def _gap(self, start: int, end: int) -> list[Block]:
        """Lines that gave no token: definitions of references, and what nests too deeply."""
        gap = self._trimmed(BlockKind.PARAGRAPH, start, end)
        return [gap] if gap else []

    def _trimmed(self, kind: BlockKind, start: int, end: int) -> Block | None:
        while start < end:
            line_end = self.body.find("\n", start, end)
            if line_end < 0 or self.body[start:line_end].strip():
                break
            start = line_end + 1
        end = start + len(self.body[start:end].rstrip())
        return Block(kind, start, end) if end > start else None
