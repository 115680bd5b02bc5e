"""Vectors kept by the signs of their numbers, and which of them are nearest to a question.

Of each number the sign is kept, a bit in place of four bytes, as seen from the mean of all
vectors, and of each vector two numbers beside. The question stays whole: its likeness to a
vector is estimated by the sum of its own numbers, each with the sign that the vector has there.
Vectors are turned first, so that no axis says more than others (some embedding models put most
of what they say into a few numbers). This is RaBitQ (Gao and Long 2024,
https://arxiv.org/abs/2405.12497), with the question kept as it is. Where there are very many
vectors, those that differ from the question in the fewest signs are estimated alone.

Of 8,904 real vectors of scientific texts the hundred best so estimated hold 0.92 of the twenty
nearest, those that differ in the fewest signs 0.72. Of a million made-up ones the thousand best
hold 0.97 of the ten nearest, and 0.67.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
# Numbers are turned in blocks, each of which mixes numbers from everywhere: turning 1,024
# numbers at once would cost eight times as much, and estimates no better.
BLOCK = 128
# Vectors that are estimated: so many, or one in so many if that is more. Of a million 50,000
# hold 0.99 of the ten nearest.
CLOSELY, SHARE_CLOSELY = 50_000, 20
_BYTES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
# What is counted at once has 64 signs; what is looked up at once, 16 of them.
_LOOKED_UP = np.dtype("<u2")
_COUNTED = np.dtype("<u8")
_LOOKED_UP_IN_COUNTED = _COUNTED.itemsize // _LOOKED_UP.itemsize


@dataclass(frozen=True, slots=True)
class Signs:
    """n vectors, a column each.

    `words` (w, n): w = 2 * ceil(d / BLOCK), 64 signs a word. `scales` (n,): what the sum of the
    signed numbers of a question is to be multiplied with. `halves` (n,): half the square of the
    distance to the mean.
    """

    words: NDArray[np.uint64]
    scales: Floats
    halves: Floats

    def __len__(self) -> int:
        return len(self.scales)

    def at(self, rows: NDArray[np.intp]) -> Signs:
        return Signs(self.words.take(rows, axis=1), self.scales[rows], self.halves[rows])


def signs_of(vectors: Floats, *, centre: Floats) -> Signs:
    """The signs of `vectors`, float32 (n, d), seen from `centre` (d,)."""
    turned = _turned(vectors - centre)
    squares = np.square(turned).sum(axis=1)
    # The sum of all numbers without their signs is 0 in the centre alone, where nothing counts.
    scales = squares / np.maximum(np.abs(turned).sum(axis=1), np.finfo(np.float32).tiny)
    return Signs(_packed(turned), scales, squares / 2)


def joined(parts: Sequence[Signs]) -> Signs:
    """At least one part, under one centre, as one."""
    return Signs(
        np.concatenate([part.words for part in parts], axis=1),
        np.concatenate([part.scales for part in parts]),
        np.concatenate([part.halves for part in parts]),
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """A question. `signs` (w,): its own. `values` (4 w, 65536): what each value of each sixteen
    signs adds to the estimate."""

    signs: NDArray[np.uint64]
    values: Floats


def asked(query: Floats, *, centre: Floats) -> Asked:
    """`query`, float32 (d,), to be compared with signs under the same centre."""
    turned = _turned((query - centre)[None, :])
    numbers = turned.reshape(-1, _BYTES.shape[1])
    bytes_of = numbers @ np.where(_BYTES, 1, -1).astype(np.float32).T
    # Of sixteen signs the first byte is the lower one.
    low, high = bytes_of[::2, None, :], bytes_of[1::2, :, None]
    return Asked(_packed(turned)[:, 0], (low + high).reshape(len(low), -1))


def estimates(signs: Signs, question: Asked) -> Floats:
    """How near a question is to each vector: numbers (n,) that fall as the distance grows, and
    are about half its square below one value for all."""
    total = np.zeros(len(signs), dtype=np.float32)
    for word, values in zip(signs.words, _by_word(question.values), strict=True):
        for part, value in zip(
            word.view(_LOOKED_UP).reshape(-1, _LOOKED_UP_IN_COUNTED).T, values, strict=True
        ):
            total += value.take(part)
    return total * signs.scales - signs.halves


def nearest(parts: Sequence[Signs], question: Asked, *, count: int) -> NDArray[np.intp]:
    """Places of the `count` vectors nearest by their estimates, best first, ties by place.

    `parts` is at least one, numbered through; fewer places where there are fewer vectors.
    """
    rows, signs = _close(parts, question)
    near = estimates(signs, question)
    best = np.arange(len(near))
    if len(near) > count:
        best = np.argpartition(near, -count)[-count:]
    order: NDArray[np.intp] = rows[best[np.lexsort((rows[best], -near[best]))]]
    return order


def _close(parts: Sequence[Signs], question: Asked) -> tuple[NDArray[np.intp], Signs]:
    """The vectors worth an estimate, and their places: those with the fewest differing signs."""
    total = sum(map(len, parts))
    most = max(CLOSELY, total // SHARE_CLOSELY)
    if total <= most:
        return np.arange(total), joined(parts)
    differing = [_differing(part, question) for part in parts]
    counts = sum(np.bincount(each, minlength=len(question.signs) * 64 + 1) for each in differing)
    bar = int(np.searchsorted(np.cumsum(counts), most))
    chosen = [np.flatnonzero(each <= bar) for each in differing]
    starts = np.cumsum([0, *map(len, parts)])
    rows = np.concatenate([own + start for own, start in zip(chosen, starts, strict=False)])
    return rows, joined([part.at(own) for part, own in zip(parts, chosen, strict=True)])


def _differing(signs: Signs, question: Asked) -> NDArray[np.uint16]:
    """In how many signs each vector differs from the question, (n,)."""
    total = np.zeros(len(signs), dtype=np.uint16)
    for word, own in zip(signs.words, question.signs, strict=True):
        total += np.bitwise_count(word ^ own)
    return total


def _by_word(values: Floats) -> Floats:
    return values.reshape(-1, _LOOKED_UP_IN_COUNTED, values.shape[1])


def _packed(turned: Floats) -> NDArray[np.uint64]:
    """Signs (n, 128 b) as words (2 b, n)."""
    return np.ascontiguousarray(np.packbits(turned > 0, axis=1).view(_COUNTED).T)


def _turned(vectors: Floats) -> Floats:
    """`vectors` (n, d) turned, with zeros up to whole blocks: lengths and angles stay."""
    count, size = vectors.shape
    places, turn = _turn(size)
    whole = np.zeros((count, len(places)), dtype=np.float32)
    whole[:, places[:size]] = vectors
    return (whole.reshape(-1, BLOCK) @ turn).reshape(count, len(places))


@lru_cache(maxsize=8)
def _turn(size: int) -> tuple[NDArray[np.intp], Floats]:
    """Where each of `size` numbers goes, and the rotation of a block; always the same."""
    dice = np.random.default_rng(size)
    places = dice.permutation(-(-size // BLOCK) * BLOCK)
    turn, _ = np.linalg.qr(dice.standard_normal((BLOCK, BLOCK)))
    return places, turn.astype(np.float32)
