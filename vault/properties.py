"""The properties of a note as its page shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from django.utils.translation import gettext as _

from vault.core.inline import whole_wikilink
from vault.models import Note

LONGEST_NAME = 60
LONGEST_VALUE = 300
MOST_VALUES = 50
DEEPEST_VALUE = 4
# Shown elsewhere on the page, or of no meaning outside Obsidian.
_LEFT_OUT = {"title", "tags", "tag", "aliases", "alias", "cssclass", "cssclasses"}
_WEB = re.compile(r"https?://[^\s/]+\S*", re.IGNORECASE)


class Addresses(Protocol):
    """Where the page of a note is."""

    def note(self, slug: str, path: str) -> str: ...


@dataclass(frozen=True, slots=True)
class PropertyValue:
    """One value. `kind`: "text", "link" to a note, "web" address, "broken" link, "yes" or
    "no"; `url` where it leads anywhere."""

    text: str
    kind: str = "text"
    url: str = ""


@dataclass(frozen=True, slots=True)
class Property:
    """A property that has values."""

    name: str
    values: tuple[PropertyValue, ...]


def properties_of(note: Note, notes: dict[str, Note], addresses: Addresses) -> list[Property]:
    """What the properties of `note` say. `notes` are those that its links lead to and that
    the reader may open, by the case-folded names that the links give them."""
    shown = []
    # By name: the database keeps no order of them.
    for name, value in sorted(note.properties.items(), key=lambda pair: pair[0].casefold()):
        if name.lower() in _LEFT_OUT:
            continue
        values = [_shown(one, notes, addresses) for one in _single(value)][:MOST_VALUES]
        if values:
            shown.append(Property(_cut(str(name), LONGEST_NAME), tuple(values)))
    return shown


def _single(value: object) -> Iterator[object]:
    """The values of a list, one by one; nothing for what is empty."""
    for item in value if isinstance(value, list) else [value]:
        if item is not None and item != "" and item != [] and item != {}:
            yield item


def _shown(value: object, notes: dict[str, Note], addresses: Addresses) -> PropertyValue:
    if isinstance(value, bool):
        return PropertyValue(_("yes") if value else _("no"), "yes" if value else "no")
    text = _words(value, DEEPEST_VALUE)
    if _WEB.fullmatch(text):
        return PropertyValue(_cut(text, LONGEST_VALUE), "web", text)
    link = whole_wikilink(text)
    if link is None:
        return PropertyValue(_cut(text, LONGEST_VALUE))
    target, anchor, alias = link
    words = _cut(alias or " > ".join(part for part in (target, anchor) if part), LONGEST_VALUE)
    note = notes.get(target.casefold())
    if note is None:
        return PropertyValue(words, "broken")
    return PropertyValue(words, "link", addresses.note(note.vault.slug, note.path))


def _words(value: object, depth: int) -> str:
    """Nested values in a line: `size: 3, of: a; b`."""
    if isinstance(value, dict):
        pairs = (f"{name}: {_words(item, depth - 1)}" for name, item in value.items())
        return ", ".join(pairs) if depth else "…"
    if isinstance(value, list):
        return "; ".join(_words(item, depth - 1) for item in value) if depth else "…"
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return "" if value is None else str(value).strip()


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
