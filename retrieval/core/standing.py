"""Whether a note says of itself that it no longer holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from retrieval.core.dates import dates_in

OUTDATED = ("superseded", "deprecated", "obsolete", "outdated", "archived", "replaced", "expired")
"""Values of `status`, in lower case, that say so."""

STANDING = ("status", "superseded_by", "valid_until")

_LINK = re.compile(r"^\[\[([^\[\]|]+)(?:\|([^\[\]]+))?\]\]$")
# A time that depends on the day it is read says nothing: "yesterday", "in March".
_ABSOLUTE = re.compile(r"(?:19|20)\d\d|\d[./]\d+[./]\d\d")


def outdated_by(properties: Mapping[str, Any], *, today: date) -> tuple[str, str]:
    """The property that says so and its value as text; ("", "") while the note holds.

    `superseded_by` names what replaced it, `status` is one of OUTDATED, `valid_until` is a
    day before `today`, or a month or year that ended.
    """
    replaced = text_of(properties.get("superseded_by"))
    if replaced:
        return "superseded_by", replaced
    status = text_of(properties.get("status"))
    if status.casefold() in OUTDATED:
        return "status", status
    until = text_of(properties.get("valid_until"))
    if re.match(r"\d{4}-\d{2}-\d{2}", until):
        until = until[:10]
    last = _last_day(until, today)
    if last and last < today.isoformat():
        return "valid_until", until
    return "", ""


def standing_of(properties: Mapping[str, Any]) -> dict[str, str]:
    """What a note says of how far it holds, as text: each of STANDING, "" where it does not."""
    return {name: text_of(properties.get(name)) for name in STANDING}


def standing_words(standing: Mapping[str, str]) -> str:
    """The same in words, for a model: "status: draft, superseded by: New pump"."""
    said = ((name.replace("_", " "), standing.get(name)) for name in STANDING)
    return ", ".join(f"{name}: {value}" for name, value in said if value)


def text_of(value: Any) -> str:
    """A property for a reader: the first of a list, a wikilink as its name.

    `[[New]]` without quotes is a list in a list to YAML, and a link to whoever wrote it.
    """
    if isinstance(value, list):
        return next(filter(None, map(text_of, value)), "")
    text = "" if value is None or isinstance(value, bool) else str(value).strip()
    link = _LINK.match(text)
    return (link[2] or link[1]).strip() if link else text


def _last_day(until: str, today: date) -> str:
    """The last day that `until` names, in ISO form; of a date read in two ways the earlier."""
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", until):
        return until
    if re.fullmatch(r"\d{4}", until):
        return f"{until}-12-31"
    ranges = dates_in(until, today=today) if _ABSOLUTE.search(until) else ()
    readings = [each.last for each in ranges if each.words == ranges[-1].words]
    return min(readings).isoformat() if readings else ""
