"""Ids inside a note's page. Each kind has its own prefix, apart from the page's own ids."""

from __future__ import annotations

import re
import unicodedata

_NOT_IN_ID = re.compile(r"[\W_]+")
LONGEST_ID = 80


def anchor_id(anchor: str) -> str:
    """The id of what `anchor` names: a heading, a path of headings, or a `^block`.

    A link knows only the text of a heading, so the id comes from the text alone; the
    second heading of the same text has no id that a link could name, as in Obsidian.
    """
    last = anchor.rsplit("#", 1)[-1].strip()
    if last.startswith("^"):
        return "block-" + _slug(last[1:])
    return "h-" + _slug(last)


def _slug(text: str) -> str:
    folded = unicodedata.normalize("NFC", text).casefold()
    return _NOT_IN_ID.sub("-", folded).strip("-")[:LONGEST_ID] or "section"
