"""What a file becomes on its way to the tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from vault.core.folder_rules import FolderRule, opens


class NoteKind(StrEnum):
    NOTE = "note"
    CODE = "code"
    CANVAS = "canvas"
    ATTACHMENT = "attachment"


@dataclass(frozen=True, slots=True)
class FileState:
    """A file of a vault as a scan saw it. `path` is relative, NFC, with forward slashes."""

    path: str
    size: int
    modified: datetime
    content_hash: str = ""


@dataclass(frozen=True, slots=True)
class FileWarning:
    """Something a vault owner should know about one file; nothing is lost by it."""

    path: str
    reason: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """Where a secret stood, and of what kind; never the secret."""

    kind: str
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the body. `start` is the offset of its line, `line` counts from 1."""

    level: int
    text: str
    start: int
    line: int


@dataclass(frozen=True, slots=True)
class LinkDraft:
    """A link as written. `target` is decoded; `anchor` is a heading or `^block`."""

    target: str
    anchor: str = ""
    alias: str = ""
    is_embed: bool = False
    start: int = 0
    line: int = 1


class BlockKind(StrEnum):
    """What a run of whole lines is. A list or quote holds `parts`."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    FENCE = "fence"
    CODE = "code"
    TABLE = "table"
    LIST = "list"
    QUOTE = "quote"
    HTML = "html"
    MATH = "math"
    COMMENT = "comment"
    RULE = "rule"


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of the body, without the blank ones after them, cut before the line end."""

    kind: BlockKind
    start: int
    end: int
    parts: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class BlockAnchor:
    """A `^name` at the end of a block, which links may point to."""

    name: str
    start: int
    line: int


@dataclass(frozen=True, slots=True)
class ParsedNote:
    """A note without its front matter. All offsets are characters of `body`.

    `body` is already scrubbed, with LF line ends and no NUL. `body_line` is the line of
    the file, from 1, where the body begins; lines of headings and links count in the body.
    `blocks` cover every line that is not blank, in order. `hidden` are the spans that no
    reader sees: comments, and the payload of pictures written into the text.
    """

    title: str
    body: str
    body_line: int = 1
    kind: NoteKind = NoteKind.NOTE
    language: str = ""
    properties: dict[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    headings: tuple[Heading, ...] = ()
    links: tuple[LinkDraft, ...] = ()
    warnings: tuple[tuple[str, int | None], ...] = ()
    anchors: tuple[BlockAnchor, ...] = ()
    blocks: tuple[Block, ...] = ()
    hidden: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A piece of a note's body, ready to be stored.

    `content` is the text of `body[start:end]`, less what is hidden; where a fence or a
    table was split, its opener or header row is repeated in front, and a fence is closed.
    `heading_path` starts with the note's title; below a second heading of level 1, in a
    note whose title is its first one, it starts with that heading instead. Lines count
    from 1 in the body, ends are inclusive. `tokens` counts the embedded text.
    """

    ordinal: int
    heading_path: tuple[str, ...]
    content: str
    start: int
    end: int
    start_line: int
    end_line: int
    tokens: int
    is_code: bool = False


@dataclass(frozen=True, slots=True)
class ChunkLimits:
    """Sizes in tokens. `maximum` comes from the embedding model."""

    target: int = 400
    overlap: int = 60
    minimum: int = 60
    maximum: int = 450


@dataclass(frozen=True, slots=True)
class Scope:
    """The vaults and folders somebody may read now. Only vault/access.py builds one.

    `narrowed_to_nothing` says that a filter left nothing although the user may read more.
    `rules` say which folders, in those of the vaults that are not open as a whole.
    """

    user_id: int
    vault_ids: tuple[int, ...]
    narrowed_to_nothing: bool = False
    rules: tuple[FolderRule, ...] = ()

    def opens(self, vault_id: int, path: str) -> bool:
        """Whether the file at `path` of that vault may be read."""
        return vault_id in self.vault_ids and opens(self.rules, vault_id, path)

    def __bool__(self) -> bool:
        return bool(self.vault_ids)
