"""A growing answer as blocks: what is closed stays as it is, only the open end is rendered.

A top-level block is closed once the first line of the one after it is complete: Markdown
is read line by line, so no later text can change it. What stands half-written at the very
end (a mark, a link) is held back until it is whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import regex
from markdown_it.token import Token

from chat.core.citations import Quotable
from chat.core.rendering import SourceBlock, render_block, split_blocks

# An opened bracket, with what follows it, at the end of the text. Longer ones are no marks.
_HALF_LINK = re.compile(
    r"!?(?<!\\)\[[^\[\]\n]{0,200}(?:\](?:\([^()\s]{0,500})?)?$|【[^】\n]{0,200}$|［[^］\n]{0,200}$"
)
_HALF_AUTOLINK = re.compile(r"<[a-z][a-z0-9+.-]{0,20}:[^<>\s]{0,500}$|!$", re.IGNORECASE)
# A formula between brackets, as long as nobody could take it for prose.
_HALF_FORMULA = re.compile(
    r"(?<!\\)\\(?:\((?:(?!\\\))[^\n`]){0,300}|\[(?:(?!\\\]|\n\s*\n)[^`]){0,700})?$"
)
# Addresses become links without brackets, too.
_HALF_ADDRESS = re.compile(
    r"(?:https?:|www\.|mailto:|[^\s<>()\[\]]{1,100}@)[^\s<>]{0,500}$", re.IGNORECASE
)
# Words that go on with a text change nothing before them: no mark, no line, no entity, no
# address is made of these. Where the text ends in one of them, no mark beside it is either.
_PLAIN = regex.compile(r"[\p{L}\p{M}\p{N} ,.?%'’“”„«»–—-]+")
# A last line whose kind (item, quote, paragraph) is settled, by a letter in it.
_SETTLED = regex.compile(r"[ >*+\-\d.)]*\p{L}[^\n]*[\p{L}\p{M}\p{N} ,.?%'’“”„«»–—-]")
# Where such text goes in: before the ends of blocks at the very end.
_ENDS = re.compile(r"(?:</(?:p|li|ul|ol|blockquote)>\s*)+\Z")
LONGEST_ENDS = 400
_FORMULAS = (("$$", "$$"), ("\\[", "\\]"))
_BRACKETS = frozenset("[【［")
_SENTENCE = re.compile(r"[.?]\s")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """HTML of the `index`-th block of an answer, from 0. It replaces what was sent before."""

    index: int
    html: str
    closed: bool


class BlockStream:
    """Takes an answer piece by piece and gives the blocks that changed."""

    def __init__(self, passages: Iterable[Quotable] = ()) -> None:
        self._passages = {passage.number: passage for passage in passages}
        self._tail = ""
        self._index = 0
        self._shown = ""
        self._rendered = ""

    @property
    def open_size(self) -> int:
        """Characters of HTML in the open block: what one more update would cost."""
        return len(self._shown)

    def push(self, text: str) -> None:
        """Add a piece of the answer."""
        self._tail += text

    def changed(self) -> list[Block]:
        """Blocks that were closed since the last call, and the open one if it changed."""
        visible = hold_back(self._tail)
        if visible.rstrip(" ") == self._rendered.rstrip(" "):
            return []
        if grown := self._grown(visible):
            return grown
        blocks = split_blocks(visible)
        complete_lines = visible.count("\n")
        count = sum(1 for block in blocks[1:] if block.line < complete_lines)
        count = next((i for i in range(count) if _may_be_formula(blocks[i])), count)
        changed = [self._close(block) for block in blocks[:count]]
        rest = blocks[count:]
        if count:
            self._drop_lines(rest[0].line)
            visible = visible.split("\n", rest[0].line)[rest[0].line]
        self._rendered = visible
        html = "".join(self._render(block) for block in rest)
        if html != self._shown:
            self._shown = html
            changed.append(Block(self._index, html, closed=False))
        return changed

    def _grown(self, visible: str) -> list[Block]:
        """The open block when it only has some more plain words: most frames are such.

        Nothing is parsed. It is what `_render` would give; a test holds the two together.
        """
        before, after = self._rendered.rstrip(" "), visible.rstrip(" ")
        added = after[len(before) :]
        ends = _ENDS.search(self._shown, max(0, len(self._shown) - LONGEST_ENDS))
        line = before[before.rfind("\n") + 1 :]
        is_plain = (
            ends is not None
            and not self._shown[: ends.start()].endswith("\n")  # code, or a list without text
            and after.startswith(before)
            and _PLAIN.fullmatch(added) is not None
            and _SETTLED.fullmatch(line) is not None
            and "www." not in f"{line[-4:]}{added}"
            and not self._may_judge_anew(line)
        )
        if not is_plain or ends is None:
            return []
        self._rendered = visible
        self._shown = f"{self._shown[: ends.start()]}{added}{ends[0]}"
        return [Block(self._index, self._shown, closed=False)]

    def _may_judge_anew(self, line: str) -> bool:
        """Whether a mark of the last sentence may be judged anew, now that it is longer."""
        sentences = _SENTENCE.split(line)
        return not _BRACKETS.isdisjoint(sentences[-1])

    def finish(self) -> list[Block]:
        """The blocks that are still open, closed: the answer has ended."""
        blocks = split_blocks(self._tail)
        self._tail = ""
        return [self._close(block) for block in blocks]

    def _close(self, block: SourceBlock) -> Block:
        closed = Block(self._index, self._render(block), closed=True)
        self._index += 1
        self._shown = ""
        return closed

    def _render(self, block: SourceBlock) -> str:
        return render_block(block, self._passages).html

    def _drop_lines(self, lines: int) -> None:
        self._tail = self._tail.split("\n", lines)[lines]


def hold_back(text: str) -> str:
    """`text` less an unfinished mark, link, image or formula at its end; code is left as it is."""
    if _is_in_fence(text):
        return text
    for pattern in (_HALF_FORMULA, _HALF_LINK, _HALF_AUTOLINK, _HALF_ADDRESS):
        match = pattern.search(text, max(0, len(text) - 800))
        if match:
            return text[: match.start()]
    return text


def _may_be_formula(block: SourceBlock) -> bool:
    """Whether a `$$` or `\\[` in `block` may find its other end after any number of lines."""
    lines = (line.lstrip() for t in block.tokens if t.type == "inline" for line in _lines(t))
    return any(
        line.startswith(opener) and closer not in line[2:]
        for line in lines
        for opener, closer in _FORMULAS
    )


def _lines(token: Token) -> list[str]:
    return token.content.split("\n")


def _is_in_fence(text: str) -> bool:
    """Whether `text`, a block and what follows it, ends inside a fence at its top level."""
    opener = ""
    for match in _FENCE.finditer(text):
        mark = match[1]
        if not opener:
            opener = mark
        elif mark[0] == opener[0] and len(mark) >= len(opener):
            opener = ""
    return bool(opener)
