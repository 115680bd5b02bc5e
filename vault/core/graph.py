"""Where the notes around a note stand in a small picture of its links."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

# The picture in its own units; the page scales it.
WIDTH, HEIGHT = 300, 264
RADIUS_X, RADIUS_Y = 104, 100
# Of more notes around one the names would cover each other.
MOST_AROUND = 12
LONGEST_LABEL = 15


@dataclass(frozen=True, slots=True)
class Spot:
    """A note in the picture: its id, what is written below it, and where it stands."""

    note_id: int
    label: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Line:
    """A link between two spots, whichever way it goes."""

    x1: int
    y1: int
    x2: int
    y2: int


@dataclass(frozen=True, slots=True)
class Picture:
    """The spots, the one in the middle first, and the lines between them."""

    spots: tuple[Spot, ...]
    lines: tuple[Line, ...]


def lay_out(
    middle: tuple[int, str], around: Sequence[tuple[int, str]], links: Collection[tuple[int, int]]
) -> Picture:
    """(id, title) of a note and of those around it, on an ellipse; linked ones side by side.

    The same notes and links give the same picture. Links of notes that are not there, and
    of a note to itself, are left out.
    """
    pairs = {(min(pair), max(pair)) for pair in links if pair[0] != pair[1]}
    ring = _side_by_side([note_id for note_id, _title in around[:MOST_AROUND]], pairs)
    titles = dict([*around[:MOST_AROUND], middle])
    spots = {middle[0]: _spot(middle[0], titles, WIDTH // 2, HEIGHT // 2 - 8)}
    for number, note_id in enumerate(ring):
        angle = 2 * math.pi * number / len(ring) - math.pi / 2
        x = WIDTH / 2 + RADIUS_X * math.cos(angle)
        y = HEIGHT / 2 - 8 + RADIUS_Y * math.sin(angle)
        spots[note_id] = _spot(note_id, titles, round(x), round(y))
    lines = [
        Line(spots[one].x, spots[one].y, spots[other].x, spots[other].y)
        for one, other in sorted(pairs)
        if one in spots and other in spots
    ]
    return Picture(tuple(spots.values()), tuple(lines))


def _side_by_side(ids: Sequence[int], pairs: Collection[tuple[int, int]]) -> list[int]:
    """In order, but after each note the first of the rest that is linked with it."""
    left, ring = list(ids), list[int]()
    while left:
        last = ring[-1] if ring else None
        linked = (one for one in left if last and (min(one, last), max(one, last)) in pairs)
        following = next(linked, left[0])
        left.remove(following)
        ring.append(following)
    return ring


def _spot(note_id: int, titles: dict[int, str], x: int, y: int) -> Spot:
    title = " ".join(titles[note_id].split())
    is_long = len(title) > LONGEST_LABEL
    return Spot(note_id, f"{title[: LONGEST_LABEL - 1]}…" if is_long else title, x, y)
