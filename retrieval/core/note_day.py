"""The day a note is of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

_DAY = re.compile(r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")


def note_day(properties: Mapping[str, Any], path: str, *, changed: date) -> date:
    """What the note itself says (`date`), else what its path says, else `changed`.

    NOTE_DAY in retrieval/core/sql.py is its twin, for filters and order. A day that no
    calendar has counts as none here.
    """
    said = str(properties.get("date", ""))
    found = _DAY.search(path)
    return _day(said[:10]) or (_day(found[0]) if found else None) or changed


def _day(text: str) -> date | None:
    if not _DAY.fullmatch(text):
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
