"""The sections of a note: from a heading to the next one that is not below it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Section:
    """`body[start:end]`, under the headings of `path`, outermost first."""

    path: tuple[str, ...]
    start: int
    end: int


def sections_of(headings: Iterable[Mapping[str, Any]], *, length: int) -> list[Section]:
    """A section for every heading ({level, text, start}), in order, subsections included."""
    rows = list(headings)
    ends = _ends(rows, length)
    sections: list[Section] = []
    above: list[tuple[int, str]] = []
    for heading, end in zip(rows, ends, strict=True):
        level = int(heading["level"])
        while above and above[-1][0] >= level:
            above.pop()
        above.append((level, str(heading["text"])))
        path = tuple(text for _, text in above)
        sections.append(Section(path, int(heading["start"]), end))
    return sections


def _ends(rows: Sequence[Mapping[str, Any]], length: int) -> list[int]:
    ends = [length] * len(rows)
    opened: list[int] = []
    for index, heading in enumerate(rows):
        while opened and int(rows[opened[-1]]["level"]) >= int(heading["level"]):
            ends[opened.pop()] = int(heading["start"])
        opened.append(index)
    return ends


def find_section(sections: Sequence[Section], wanted: Sequence[str]) -> Section | None:
    """The section whose path is, or ends with, `wanted`. None when there is none.

    Never a near match: a wrong section with confidence is worse than a list to choose from.
    """
    path = tuple(_key(part) for part in wanted if part.strip())
    if not path:
        return None
    for section in sections:
        if tuple(map(_key, section.path)) == path:
            return section
    for section in sections:
        if tuple(map(_key, section.path[-len(path) :])) == path:
            return section
    return None


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()
