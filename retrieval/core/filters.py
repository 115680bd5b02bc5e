"""Filters that stand in a query: `path:Ops/`, `tag:project`, `[status:draft]`, `-kind:code`."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import date

from vault.core.types import NoteKind

FILTER_NAMES = ("path", "folder", "tag", "prop", "kind", "vault", "after", "before")
KINDS = tuple(kind.value for kind in NoteKind)
_DATES = frozenset({"after", "before"})
# A filter begins a word; in quotes it is text that somebody looks for. A property is
# `prop:name=value`, or `[name:value]` as Obsidian writes it: a name begins with a letter, so
# that a time in brackets stays text, and neither [[a link]] nor [a link](to) is one.
_FILTER_OR_PHRASE = re.compile(
    r"(?<!\S)(?P<minus>-?)(?:(?P<name>path|folder|tag|prop|kind|vault|after|before)"
    r':(?:"(?P<quoted>[^"]*)"|(?P<bare>[^\s"]+))'
    r'|\[(?P<key>[^\W\d_][\w -]*):[ ]*(?:"(?P<wanted>[^"\[\]]*)"|(?P<plain>[^"\[\]]*))\](?![\[(]))'
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

    Paths are prefixes from the root of a vault, folders are whole and without a slash at
    the end, tags are without `#` and mean their nested tags too; all in lower case. A
    property is `name=value`, or `name=` for any value. Dates are ISO.
    """

    name: str
    value: str
    raw: str
    is_excluding: bool = False


def take_filters(text: str) -> tuple[str, tuple[Filter, ...]]:
    """`text` without its filters, and the filters. What cannot be read stays text."""
    found: list[Filter] = []

    def take(match: re.Match[str]) -> str:
        read = _read(match)
        if read is None:
            return match[0]
        found.append(read)
        return " "

    rest = _FILTER_OR_PHRASE.sub(take, text)
    return rest, tuple(found)


def check_filters(text: str) -> None:
    """Raise UnreadableFilter for the first filter in `text` whose value means nothing."""
    for match in _FILTER_OR_PHRASE.finditer(text):
        if not match[0].startswith('"') and _read(match) is None:
            raise UnreadableFilter(match[0], (match["name"] or "prop").lower())


def without_filter(text: str, gone: Filter) -> str:
    """`text` without one of its filters, as the link of a chip asks."""
    before, _, after = text.partition(gone.raw)
    return " ".join(f"{before} {after}".split())


def as_filter(name: str, value: str) -> str:
    """A filter as one would type it; quotes inside a value would end it and are left out."""
    plain = value.replace('"', "").strip()
    return f'{name}:"{plain}"' if not plain or re.search(r"\s", plain) else f"{name}:{plain}"


def _read(match: re.Match[str]) -> Filter | None:
    """The filter of a match; None for a phrase, and for a value that means nothing."""
    if match["name"] is None and match["key"] is None:
        return None
    name, value = _typed(match)
    excludes = bool(match["minus"])
    normal = _normal(name, value)
    if not normal or (excludes and name in _DATES):
        return None
    return Filter(name, normal, match[0], is_excluding=excludes)


def _typed(match: re.Match[str]) -> tuple[str, str]:
    """Name and value of a filter as typed."""
    if match["name"] is None:
        wanted = match["wanted"] if match["wanted"] is not None else match["plain"]
        return "prop", f"{match['key']}={wanted}"
    value = match["quoted"] if match["quoted"] is not None else match["bare"]
    return match["name"].lower(), value


def _normal(name: str, value: str) -> str:
    """The one form of a value; empty when it means nothing."""
    if name in _DATES:
        return _date(value)
    value = unicodedata.normalize("NFC", value.strip()).lower()
    if name == "tag":
        return value.lstrip("#").strip("/")
    if name == "prop":
        key, _equals, wanted = value.partition("=")
        return f"{key.strip()}={wanted.strip()}" if key.strip() else ""
    if name == "kind":
        return value if value in KINDS else ""
    if name == "vault":
        return value
    path = value.removeprefix("./").lstrip("/")
    return path.rstrip("/") if name == "folder" else path


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
