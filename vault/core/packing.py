"""Where a run of pieces is cut so that an edit moves few of the cuts.

Filling chunks up one after another would shift every cut behind an edit. Here cuts hang on
what the text says: each place between two pieces has a rank, a hash of the piece behind
it, and the places with the lowest rank far and wide are anchors, cut whatever stands
before them. Between two anchors chunks are filled, again up to low ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate

# In rooms: an anchor has the lowest rank within this much text before and behind it.
_ANCHOR_REACH = 1.5
# A chunk that is not the last of its stretch is filled at least so far.
_LEAST_FILL = 0.65
_NEVER = float("inf")

Group = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Room:
    """Tokens that a group holds: the first one, those behind it, and the least of any."""

    first: int
    later: int
    least: int = 0


def packed_groups(sizes: Sequence[int], texts: Sequence[str], room: Room) -> list[Group]:
    """Groups of consecutive pieces as (first, end) of their indices, in order, all of them.

    `sizes` are the tokens of the pieces and `texts` what they say. No group holds more
    than its room unless it is a single piece. Where the text changes, only groups within
    a bounded distance change.
    """
    sums = [0, *accumulate(sizes)]
    if sums[-1] <= room.first:
        return [(0, len(sizes))] if sizes else []
    ranks = _ranks(texts)
    stops = [*_anchors(ranks, sums, room), len(sizes)]
    groups: list[Group] = []
    start = 0
    for stop in stops:
        while start < stop:
            most = room.later if groups else room.first
            end = _end_of_group(start, stop, most, room.least, (sums, ranks))
            groups.append((start, end))
            start = end
    return groups


def _ranks(texts: Sequence[str]) -> list[float]:
    """A rank for the place before each piece; repeated text has none after the first time.

    With ranks for repetitions, a list of equal lines would be cut at every one of them.
    """
    ranks: list[float] = []
    seen: set[bytes] = set()
    for text in texts:
        here = blake2b(text.strip().encode("utf-8", "surrogatepass"), digest_size=8).digest()
        ranks.append(_NEVER if here in seen else float(int.from_bytes(here, "big")))
        seen.add(here)
    ranks[:1] = [_NEVER]
    return ranks


def _anchors(ranks: Sequence[float], sums: Sequence[int], room: Room) -> list[int]:
    """Places whose rank is the lowest in their reach, well inside the run."""
    reach = room.later * _ANCHOR_REACH
    lower_before = _distances_to_lower(ranks, sums)
    backwards = [sums[-1] - tokens for tokens in reversed(sums)]
    # Seen from behind, the place before a piece is the place after it.
    mirrored = _distances_to_lower([_NEVER, *reversed(ranks[1:])], backwards)
    lower_behind = [0.0, *reversed(mirrored[1:])]
    return [
        place
        for place in range(1, len(ranks))
        if ranks[place] < _NEVER
        and sums[place] >= room.first
        and sums[-1] - sums[place] >= room.later / 2
        and lower_before[place] > reach
        and lower_behind[place] > reach
    ]


def _distances_to_lower(ranks: Sequence[float], sums: Sequence[int]) -> list[float]:
    """Tokens from each place back to the last place with a lower rank."""
    distances: list[float] = []
    falling: list[int] = []
    for place, rank in enumerate(ranks):
        while falling and ranks[falling[-1]] >= rank:
            falling.pop()
        distances.append(sums[place] - sums[falling[-1]] if falling else _NEVER)
        falling.append(place)
    return distances


def _end_of_group(
    start: int, stop: int, most: int, least: int, measures: tuple[Sequence[int], Sequence[float]]
) -> int:
    """Where the group that begins at `start` ends, `stop` at the latest."""
    sums, ranks = measures
    if stop == start + 1 or sums[stop] - sums[start] <= most:
        return stop
    end = start + 1
    while end < stop and sums[end + 1] - sums[start] <= most:
        end += 1
    roomy = [place for place in range(start + 1, end + 1) if sums[stop] - sums[place] >= least] or [
        end
    ]
    full = [place for place in roomy if sums[place] - sums[start] >= most * _LEAST_FILL]
    return min(reversed(full), key=lambda place: ranks[place]) if full else roomy[-1]
