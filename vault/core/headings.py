"""Under which headings a place of a note stands, outermost first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vault.core.types import Heading


def path_at(headings: Iterable[Mapping[str, Any]], title: str, *, offset: int) -> tuple[str, ...]:
    """The heading path of the character at `offset` of a body, as chunks carry it.

    `headings` are a note's own ({level, text, start}, in order). A heading's own line
    stands under it; text above all headings under the title alone.
    """
    listed = [
        Heading(int(row["level"]), str(row["text"]), int(row["start"]), int(row.get("line", 1)))
        for row in headings
    ]
    trail: list[Heading] = []
    for heading in listed:
        if heading.start > offset:
            break
        step_into(trail, heading)
    return shown_path(title, main_heading(listed), trail)


def step_into(trail: list[Heading], heading: Heading) -> None:
    """Let `trail` end with `heading`, below those that it stands under."""
    while trail and trail[-1].level >= heading.level:
        trail.pop()
    trail.append(heading)


def main_heading(headings: Iterable[Heading]) -> str | None:
    """The first heading of level 1."""
    return next((heading.text for heading in headings if heading.level == 1), None)


def shown_path(title: str, main: str | None, trail: Sequence[Heading]) -> tuple[str, ...]:
    """Title and headings; a title that is itself the first heading stands above its own only."""
    texts = [heading.text for heading in trail if heading.text]
    if not texts:
        return (title,)
    top = trail[0]
    if top.level == 1 and top.text and main == title:
        return tuple(texts)
    if texts[0].casefold() == title.casefold():
        return (title, *texts[1:])
    return (title, *texts)


def shared_path(paths: Iterable[Sequence[str]], title: str) -> tuple[str, ...]:
    """What all of `paths` begin with; the title when that is nothing."""
    shared: list[str] = []
    for level in zip(*paths, strict=False):
        if len(set(level)) > 1:
            break
        shared.append(level[0])
    return tuple(shared) or (title,)
