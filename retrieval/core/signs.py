"""Vectors kept by the signs of their numbers, and how near a question is to each.

Of each number the sign is kept, a bit in place of four bytes, as seen from the mean of all
vectors, and of each vector two numbers beside. The question stays whole: its likeness to a
vector is estimated by the sum of its own numbers, each with the sign that the vector has there.
Vectors are turned first, so that no axis says more than others (some embedding models put most
of what they say into a few numbers). This is RaBitQ (Gao and Long 2024,
https://arxiv.org/abs/2405.12497), with the question kept as it is.

Of 8,904 real vectors of scientific texts the hundred best so estimated hold 0.92 of the twenty
nearest, those that differ from the question in the fewest signs 0.72; of 100,000 made-up ones
0.65 and 0.35.
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
_BYTES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)


@dataclass(frozen=True, slots=True)
class Signs:
    """n vectors, a column each.

    `words` (w, n): w = 8 * ceil(d / BLOCK), 16 signs a word. `scales` (n,): what the sum of the
    signed numbers of a question is to be multiplied with. `halves` (n,): half the square of the
    distance to the mean.
    """

    words: NDArray[np.uint16]
    scales: Floats
    halves: Floats

    def __len__(self) -> int:
        return len(self.scales)


def signs_of(vectors: Floats, *, centre: Floats) -> Signs:
    """The signs of `vectors`, float32 (n, d), seen from `centre` (d,)."""
    turned = _turned(vectors - centre)
    squares = np.square(turned).sum(axis=1)
    # The sum of all numbers without their signs is 0 in the centre alone, where nothing counts.
    scales = squares / np.maximum(np.abs(turned).sum(axis=1), np.finfo(np.float32).tiny)
    words = np.packbits(turned > 0, axis=1).view("<u2").T
    return Signs(np.ascontiguousarray(words), scales, squares / 2)


def joined(parts: Sequence[Signs]) -> Signs:
    """At least one part, under one centre, as one."""
    return Signs(
        np.concatenate([part.words for part in parts], axis=1),
        np.concatenate([part.scales for part in parts]),
        np.concatenate([part.halves for part in parts]),
    )


def word_values(query: Floats, *, centre: Floats) -> Floats:
    """What each of the 65,536 values of each word of signs adds for `query`, float32 (d,):
    (w, 65536)."""
    numbers = _turned((query - centre)[None, :]).reshape(-1, _BYTES.shape[1])
    bytes_of = numbers @ np.where(_BYTES, 1, -1).astype(np.float32).T
    # Of a word the first byte is the lower one.
    low, high = bytes_of[::2, None, :], bytes_of[1::2, :, None]
    return (low + high).reshape(len(low), -1)


def estimates(signs: Signs, values: Floats) -> Floats:
    """How near a question is to each vector: numbers (n,) that fall as the distance grows, and
    are about half its square below one value for all. `values`: the `word_values` of the
    question under the same centre."""
    total = np.zeros(len(signs), dtype=np.float32)
    for word, value in zip(signs.words, values, strict=True):
        total += value.take(word)
    return total * signs.scales - signs.halves


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
