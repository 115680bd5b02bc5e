"""Which notes a trial is made with, where all of a vault would be too many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest


def choose_pool(
    expected: Iterable[int],
    ranked: Sequence[Sequence[int]],
    others: Iterable[int],
    *,
    weights: Mapping[int, int],
    most: int,
) -> list[int]:
    """Ids of notes of `most` passages at most: those that are expected, whatever they weigh,
    then those that search ranks, the first of every question before any second one, then
    others. `weights`: passages of each note; one that has none there is left out.
    """
    chosen: dict[int, None] = {}
    weight = 0
    needed = frozenset(expected)
    for note in chain(sorted(needed), _by_place(ranked), others):
        if note in chosen or note not in weights:
            continue
        if note not in needed and weight + weights[note] > most:
            continue
        chosen[note] = None
        weight += weights[note]
    return list(chosen)


def _by_place(ranked: Sequence[Sequence[int]]) -> Iterator[int]:
    for places in zip_longest(*ranked):
        yield from (note for note in places if note is not None)
