"""Markdown as HTML: notes as Obsidian's reading view shows them, answers, code, math.

One way in for everything that becomes HTML. Raw HTML is never parsed, and what comes out
has passed one allow-list (`sanitise`), last.
"""

from __future__ import annotations

from vault.core.rendering.anchors import anchor_id
from vault.core.rendering.code import highlight_code
from vault.core.rendering.note import (
    OutlineEntry,
    RenderedNote,
    render_code_note,
    render_note,
    render_pages,
    render_part,
    render_picture,
    render_plain,
)
from vault.core.rendering.parsers import answer_parser, note_parser
from vault.core.rendering.sanitising import sanitise
from vault.core.rendering.targets import Resolve, Resolved, ShowEmbedded

__all__ = [
    "OutlineEntry",
    "RenderedNote",
    "Resolve",
    "Resolved",
    "ShowEmbedded",
    "anchor_id",
    "answer_parser",
    "highlight_code",
    "note_parser",
    "render_code_note",
    "render_note",
    "render_pages",
    "render_part",
    "render_picture",
    "render_plain",
    "sanitise",
]
