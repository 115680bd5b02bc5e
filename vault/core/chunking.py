"""A note cut into the pieces that are embedded, found and cited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex

from vault.core.headings import main_heading, shown_path, step_into
from vault.core.layout import read_layout
from vault.core.lines import LineMap
from vault.core.packing import Room, packed_groups
from vault.core.pieces import CountTokens, Piece, Source, cut_block
from vault.core.sentences import tail_start
from vault.core.tokens import estimate_tokens
from vault.core.types import (
    Block,
    BlockKind,
    ChunkDraft,
    ChunkLimits,
    Heading,
    NoteKind,
    ParsedNote,
)

# Part of a note's indexed hash: raise it when the same note would give other chunks.
CHUNKER_VERSION = "2"
# Prefix and special tokens that a model adds to a passage.
_MODEL_TOKENS = 8
_MOST_PATH_TOKENS = 64
_MOST_PART_TOKENS = 28
_WORD = regex.compile(r"[\p{L}\p{N}]")


def chunk_note(
    note: ParsedNote, *, limits: ChunkLimits, count_tokens: CountTokens = estimate_tokens
) -> list[ChunkDraft]:
    """Chunks of a note in order, by sections, the same for the same note and limits.

    Every character that is seen is in the span of a chunk. A section with words of its own
    never shares a chunk with another; headings without text go with the next section. A
    note without text gives no chunk, or, when it has properties, one without content, so
    that its title can be found.
    """
    chunks = _Chunker(note, limits, count_tokens).chunks()
    if not chunks and note.properties:
        path = (note.title,)
        tokens = count_tokens(embedded_text(path, "", "")) + _MODEL_TOKENS
        return [ChunkDraft(0, path, "", 0, 0, 1, 1, tokens)]
    return chunks


def embedded_text(
    heading_path: Sequence[str], context: str, content: str, *, shown: str = ""
) -> str:
    """What is embedded for a chunk, without the model's prefix: path, context, content,
    and what the content shows of other notes."""
    parts = (_shown_path(heading_path), context.strip(), content, shown.strip())
    return "\n\n".join(part for part in parts if part)


def _shown_path(heading_path: Sequence[str]) -> str:
    """The path in one line of at most 64 tokens; the middle gives way first."""
    parts = [_shortened(part, _MOST_PART_TOKENS) for part in heading_path if part]
    while len(parts) > 2 and estimate_tokens(" > ".join(parts)) > _MOST_PATH_TOKENS:
        del parts[len(parts) // 2]
    return _shortened(" > ".join(parts), _MOST_PATH_TOKENS)


def _shortened(text: str, most: int) -> str:
    """The beginning of a text, at most so many tokens of it."""
    while (tokens := estimate_tokens(text)) > most:
        text = text[: min(len(text) - 1, len(text) * most // tokens)].rstrip()
    return text


@dataclass(slots=True)
class _Section:
    """A heading with its text, up to the next heading. Blocks include the heading's."""

    path: tuple[str, ...]
    blocks: list[Block]


@dataclass(slots=True)
class _Draft:
    """Pieces packed together, with the overlap taken from the draft before."""

    path: tuple[str, ...]
    pieces: list[Piece]
    start: int

    @property
    def own_tokens(self) -> int:
        return sum(piece.tokens for piece in self.pieces)


class _Chunker:
    def __init__(self, note: ParsedNote, limits: ChunkLimits, count: CountTokens) -> None:
        self._note = note
        self._limits = limits
        self._count = count
        self._source = Source(note.body, note.hidden, count)

    def chunks(self) -> list[ChunkDraft]:
        drafts: list[_Draft] = []
        carried: list[Block] = []
        for section in self._sections():
            if not self._has_words(section):
                carried += section.blocks
                continue
            if carried and self._tokens(carried) > self._room(section.path) // 3:
                drafts += self._packed((self._note.title,), carried)
                carried = []
            drafts += self._packed(section.path, [*carried, *section.blocks])
            carried = []
        if carried:
            self._append_rest(drafts, carried)
        lines = LineMap(self._note.body)
        return [self._finished(draft, ordinal, lines) for ordinal, draft in enumerate(drafts)]

    def _sections(self) -> Iterator[_Section]:
        """Sections in order; in code, definitions of a few lines stand together."""
        sections = _sections(self._note)
        if self._note.kind is not NoteKind.CODE:
            yield from sections
            return
        small: list[_Section] = []
        for section in sections:
            small.append(section)
            tokens = sum(self._tokens(part.blocks) for part in small)
            if tokens >= self._limits.minimum:
                yield _joined(small)
                small = []
        if small:
            yield _joined(small)

    def _append_rest(self, drafts: list[_Draft], blocks: list[Block]) -> None:
        """Headings at the end of a note, with nothing after them."""
        rest = self._packed((self._note.title,), blocks)
        if drafts and len(rest) == 1:
            last = drafts[-1]
            if last.own_tokens + rest[0].own_tokens <= self._hard_room(last.path):
                last.pieces += rest[0].pieces
                return
        drafts += rest

    def _has_words(self, section: _Section) -> bool:
        return any(
            block.kind is not BlockKind.HEADING
            and _WORD.search(self._source.visible(block.start, block.end))
            for block in section.blocks
        )

    def _tokens(self, blocks: list[Block]) -> int:
        return sum(self._source.tokens(block.start, block.end) for block in blocks)

    def _room(self, path: tuple[str, ...]) -> int:
        return self._without_path(path, self._limits.target)

    def _hard_room(self, path: tuple[str, ...]) -> int:
        return self._without_path(path, self._limits.maximum)

    def _without_path(self, path: tuple[str, ...], tokens: int) -> int:
        return max(tokens - self._count(_shown_path(path)) - _MODEL_TOKENS, tokens // 3)

    def _packed(self, path: tuple[str, ...], blocks: list[Block]) -> list[_Draft]:
        """Pieces of the blocks gathered up to the target, each draft with its overlap."""
        room = self._room(path)
        lead = self._lead(blocks, most=room // 2)
        pieces = [
            piece for block in blocks for piece in cut_block(self._source, block, limit=room - lead)
        ]
        groups = self._balanced(self._gathered(pieces, room), path)
        drafts: list[_Draft] = []
        for group in groups:
            start = self._overlap_start(drafts[-1], group, path) if drafts else group[0].start
            drafts.append(_Draft(path, group, start))
        return drafts

    def _gathered(self, pieces: list[Piece], room: int) -> list[list[Piece]]:
        """Pieces in order, as many together as fit; later groups leave room for the overlap."""
        groups = packed_groups(
            [piece.tokens for piece in pieces],
            [self._note.body[piece.start : piece.end] for piece in pieces],
            Room(room, room - self._limits.overlap, self._limits.minimum),
        )
        return [pieces[first:end] for first, end in groups]

    def _lead(self, blocks: list[Block], *, most: int) -> int:
        """Tokens of the headings in front, which the first text must fit beside."""
        lead = 0
        for block in blocks:
            if block.kind is not BlockKind.HEADING:
                break
            lead += self._source.tokens(block.start, block.end)
        return lead if lead <= most else 0

    def _balanced(self, groups: list[list[Piece]], path: tuple[str, ...]) -> list[list[Piece]]:
        """A last group under the minimum joins the one before, or takes pieces from it."""
        if len(groups) < 2 or _total(groups[-1]) >= self._limits.minimum:
            return groups
        before, last = groups[-2], groups[-1]
        if _total(before) + _total(last) <= self._hard_room(path) - self._limits.overlap:
            return [*groups[:-2], before + last]
        while len(before) > 1 and _total(last) < self._limits.minimum:
            if _total(before[:-1]) < _total(last) + before[-1].tokens:
                break
            last.insert(0, before.pop())
        return groups

    def _overlap_start(self, before: _Draft, group: list[Piece], path: tuple[str, ...]) -> int:
        """Where a draft begins when it repeats the end of the text before it."""
        first = group[0]
        if not first.is_text:
            return first.start
        begin = first.start
        for piece in reversed(before.pieces):
            if not piece.is_text:
                break
            begin = piece.start
        room = min(self._limits.overlap, self._hard_room(path) - _total(group))
        if begin >= first.start or room <= 0:
            return first.start
        end = before.pieces[-1].end
        start = tail_start(self._note.body, begin, end, limit=room, count=self._source.tokens)
        is_all = start <= before.pieces[0].start
        return first.start if start >= end or is_all else start

    def _finished(self, draft: _Draft, ordinal: int, lines: LineMap) -> ChunkDraft:
        first, last = draft.pieces[0], draft.pieces[-1]
        opener = first.opener if draft.start == first.start else ""
        content = opener + self._source.visible(draft.start, last.end) + last.closer
        code = sum(piece.end - piece.start for piece in draft.pieces if piece.is_code)
        return ChunkDraft(
            ordinal=ordinal,
            heading_path=draft.path,
            content=content,
            start=draft.start,
            end=last.end,
            start_line=lines.line_at(draft.start),
            end_line=lines.line_at(max(draft.start, last.end - 1)),
            tokens=self._count(embedded_text(draft.path, "", content)) + _MODEL_TOKENS,
            is_code=code * 2 > last.end - first.start,
        )


def _total(pieces: list[Piece]) -> int:
    return sum(piece.tokens for piece in pieces)


def _joined(sections: list[_Section]) -> _Section:
    """One section of several: below the path they share, the names of each."""
    paths = [section.path for section in sections]
    shared = 0
    while len({path[: shared + 1] for path in paths}) == 1 and shared < max(map(len, paths)):
        shared += 1
    names = dict.fromkeys(path[shared] for path in paths if len(path) > shared)
    path = (*paths[0][:shared], *([", ".join(names)] if names else []))
    return _Section(path, [block for section in sections for block in section.blocks])


def _sections(note: ParsedNote) -> Iterator[_Section]:
    blocks = note.blocks or tuple(read_layout(note.body).blocks)
    headings = {heading.start: heading for heading in note.headings}
    main = main_heading(note.headings)
    trail: list[Heading] = []
    section = _Section((note.title,), [])
    for block in blocks:
        is_first = block.kind is BlockKind.HEADING or note.kind is NoteKind.CODE
        heading = headings.get(block.start) if is_first else None
        if heading:
            if section.blocks:
                yield section
            step_into(trail, heading)
            section = _Section(shown_path(note.title, main, trail), [])
        section.blocks.append(block)
    if section.blocks:
        yield section
