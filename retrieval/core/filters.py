"""Filters that stand in a query: `path:Ops/`, `tag:project`, `after:2026-01-31`, `-tag:draft`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

FILTER_NAMES = ("path", "tag", "after", "before")
_DATES = frozenset({"after", "before"})
# A filter begins a word; in quotes it is text that somebody looks for.
_FILTER_OR_PHRASE = re.compile(
    r'(?<!\S)(?P<minus>-?)(?P<name>path|tag|after|before):(?:"(?P<quoted>[^"]*)"|(?P<bare>[^\s"]+))'
    r'|"[^"]*"',
    re.IGNORECASE,
)
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?", re.ASCII)


class UnreadableFilter(ValueError):
    """A filter whose value means nothing, as typed."""

    def __init__(self, raw: str, name: str) -> None:
        super().__init__(raw)
        self.raw = raw
        self.name = name


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter. `raw` is how it was typed, `value` its normal form.

    Paths are prefixes from the root of a vault, tags are without `#` and mean their
    nested tags too; both in lower case. Dates are ISO.
    """

    name: str
    value: str
    raw: str
    is_excluding: bool = False


def take_filters(text: str) -> tuple[str, tuple[Filter, ...]]:
    """`text` without its filters, and the filters. What cannot be read stays text."""
    found: list[Filter] = []

    def take(match: re.Match[str]) -> str:
        read = None if match["name"] is None else _read(match)
        if read is None:
            return match[0]
        found.append(read)
        return " "

    rest = _FILTER_OR_PHRASE.sub(take, text)
    return rest, tuple(found)


def check_filters(text: str) -> None:
    """Raise UnreadableFilter for the first filter in `text` whose value means nothing."""
    for match in _FILTER_OR_PHRASE.finditer(text):
        if match["name"] is not None and _read(match) is None:
            raise UnreadableFilter(match[0], match["name"].lower())


def without_filter(text: str, gone: Filter) -> str:
    """`text` without one of its filters, as the link of a chip asks."""
    before, _, after = text.partition(gone.raw)
    return " ".join(f"{before} {after}".split())


def _read(match: re.Match[str]) -> Filter | None:
    name = match["name"].lower()
    value = match["quoted"] if match["quoted"] is not None else match["bare"]
    excludes = bool(match["minus"])
    normal = _date(value) if name in _DATES else _normal(name, value)
    if not normal or (excludes and name in _DATES):
        return None
    return Filter(name, normal, match[0], is_excluding=excludes)


def _normal(name: str, value: str) -> str:
    value = value.strip().lower()
    if name == "tag":
        return value.lstrip("#").strip("/")
    return value.removeprefix("./").lstrip("/")


def _date(value: str) -> str:
    """`2026`, `2026-3` and `2026-03-01` as the day they begin; empty when it is no date."""
    read = _DATE.fullmatch(value.strip())
    if read is None:
        return ""
    year, month, day = (int(part or 1) for part in read.groups())
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""
