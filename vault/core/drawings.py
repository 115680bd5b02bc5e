"""Boards and drawings as text: canvas files and Excalidraw."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from vault.core.file_kinds import suffix_of

_PLUGIN = re.compile(r"^excalidraw-plugin\s*:", re.MULTILINE)
_HEADER = re.compile(r"---[ \t]*\n.*?\n---[ \t]*(?:\n|$)", re.DOTALL)
_TEXTS = re.compile(r"^#{1,6}[ \t]+Text Elements[ \t]*$", re.MULTILINE)
_DATA = re.compile(r"^#{1,6}[ \t]+Excalidraw Data[ \t]*$", re.MULTILINE)
# Where the drawing itself begins: its pictures, its links, its payload.
_REST = re.compile(
    r"^(?:%%|#{1,6}[ \t]+(?:Drawing|Embedded Files|Element Links)[ \t]*$)", re.MULTILINE
)
_NOTICE = re.compile(r"^==.*EXCALIDRAW.*==.*$", re.MULTILINE)
_ELEMENT_ID = re.compile(r"[ \t]+\^[\w-]{8}[ \t]*$", re.MULTILINE)


class UnreadableDrawing(Exception):
    """The file is no canvas and no drawing. `str()` says what is wrong, and where."""


def is_drawing(text: str, *, path: str) -> bool:
    """Whether `path` holds a drawing of Excalidraw inside a Markdown file."""
    header = _HEADER.match(text)
    is_marked = bool(header and _PLUGIN.search(header.group()))
    return is_marked and suffix_of(path) in {".md", ".markdown"}


def drawing_text(text: str) -> str:
    """Header, notes and text elements of an Excalidraw Markdown file, without the drawing."""
    header = _HEADER.match(text)
    start = header.end() if header else 0
    texts = _TEXTS.search(text, start)
    data = _DATA.search(text, start)
    notes_end = min(found.start() for found in (texts, data) if found) if texts or data else start
    notes = _NOTICE.sub("", text[start:notes_end]).strip().removesuffix("%%").strip()
    elements = ""
    if texts:
        rest = _REST.search(text, texts.end())
        elements = text[texts.end() : rest.start() if rest else len(text)]
        elements = _ELEMENT_ID.sub("", elements).strip()
    return text[:start] + "\n\n".join(part for part in (notes, elements) if part) + "\n"


def board_text(text: str, *, path: str) -> str:
    """The text of a `.canvas` or `.excalidraw` file (both JSON) as Markdown.

    Cards from top to bottom; groups are headings above the cards that lie in them, files
    are embeds, and addresses are links. Raises UnreadableDrawing.
    """
    if not text.strip():
        return ""  # a new canvas is an empty file
    try:
        board = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableDrawing(
            f"It is not valid JSON ({error}). Open it in its application and save it again."
        ) from error
    is_canvas = suffix_of(path) == ".canvas"
    key = "nodes" if is_canvas else "elements"
    items = board.get(key, []) if isinstance(board, dict) else None
    if not isinstance(items, list):
        raise UnreadableDrawing(f"It has no list of {key}: it is no {suffix_of(path)} file.")
    rows = [item for item in items if isinstance(item, dict)]
    parts = _canvas_parts(rows) if is_canvas else _elements(rows)
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


def _elements(rows: list[dict[str, Any]]) -> Iterator[str]:
    for row in sorted(rows, key=_place):
        if row.get("type") == "text" and not row.get("isDeleted"):
            yield _text(row, "rawText") or _text(row, "text")


def _canvas_parts(rows: list[dict[str, Any]]) -> Iterator[str]:
    """What lies in no group first, then each group with what lies in it."""
    groups = sorted((row for row in rows if row.get("type") == "group"), key=_place)
    cards = sorted((row for row in rows if row.get("type") != "group"), key=_place)
    group_of = {id(card): _innermost(card, groups) for card in cards}
    yield from (_card(card) for card in cards if group_of[id(card)] is None)
    for group in groups:
        label = " ".join(_text(group, "label").split())
        yield f"## {label}" if label else ""
        yield from (_card(card) for card in cards if group_of[id(card)] is group)


def _innermost(card: dict[str, Any], groups: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The smallest group that holds the middle of a card."""
    x = _number(card, "x") + _number(card, "width") / 2
    y = _number(card, "y") + _number(card, "height") / 2
    around = [
        group
        for group in groups
        if 0 <= x - _number(group, "x") <= _number(group, "width")
        and 0 <= y - _number(group, "y") <= _number(group, "height")
    ]
    return min(around, key=lambda g: _number(g, "width") * _number(g, "height"), default=None)


def _card(card: dict[str, Any]) -> str:
    kind = card.get("type")
    if kind == "text":
        return _text(card, "text").strip()
    if kind == "file" and (file := _text(card, "file")):
        return f"![[{file}{_text(card, 'subpath')}]]"
    return f"<{url}>" if kind == "link" and (url := _text(card, "url")) else ""


def _text(row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""


def _number(row: dict[str, Any], key: str) -> float:
    value = row.get(key)
    return float(value) if isinstance(value, int | float) and abs(value) < 1e15 else 0.0


def _place(row: dict[str, Any]) -> tuple[float, float]:
    return (_number(row, "y"), _number(row, "x"))
