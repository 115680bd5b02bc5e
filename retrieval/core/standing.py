"""Whether a note says of itself that it no longer holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

OUTDATED = ("superseded", "deprecated", "obsolete", "outdated", "archived", "replaced", "expired")
"""Values of `status`, in lower case, that say so."""

STANDING = ("status", "superseded_by", "valid_until")

_LINK = re.compile(r"^\[\[([^\[\]|]+)(?:\|([^\[\]]+))?\]\]$")


def outdated_by(properties: Mapping[str, Any], *, today: date) -> tuple[str, str]:
    """The property that says so and its value as text; ("", "") while the note holds.

    `superseded_by` names what replaced it, `status` is one of OUTDATED, `valid_until` is a
    day before `today`.
    """
    replaced = _text(properties.get("superseded_by"))
    if replaced:
        return "superseded_by", replaced
    status = _text(properties.get("status"))
    if status.casefold() in OUTDATED:
        return "status", status
    until = _text(properties.get("valid_until"))[:10]
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", until) and until < today.isoformat():
        return "valid_until", until
    return "", ""


def standing_of(properties: Mapping[str, Any]) -> dict[str, str]:
    """What a note says of how far it holds, as text: each of STANDING, "" where it does not."""
    return {name: _text(properties.get(name)) for name in STANDING}


def standing_words(standing: Mapping[str, str]) -> str:
    """The same in words, for a model: "status: draft, superseded by: New pump"."""
    said = ((name.replace("_", " "), standing.get(name)) for name in STANDING)
    return ", ".join(f"{name}: {value}" for name, value in said if value)


def _text(value: Any) -> str:
    """A property for a reader: the first of a list, a wikilink as its name."""
    if isinstance(value, list):
        value = next((each for each in value if each), "")
    text = "" if value is None or isinstance(value, bool) else str(value).strip()
    link = _LINK.match(text)
    return (link[2] or link[1]).strip() if link else text
