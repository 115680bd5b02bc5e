"""Made-up notes and vectors that cost a search what real ones do.

Text: words whose frequency falls as in prose (Zipf-Mandelbrot; the most frequent word that is
no stop word stands in a quarter of the passages, half of the words of a question in less than
3 %), four in ten words are English stop words, and notes have subjects with words of their
own. So are questions: two to nine words of one passage.

Vectors: subject, note and passage each add a part, with the spectrum of the bundled
embedder's vectors. A question lies as far from its passage as real ones do.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

DIMENSIONS = 384
CHUNKS_A_NOTE = 10
# Notes of a subject: the more notes, the more subjects.
NOTES_A_SUBJECT = 25
SUBJECT_WORDS = 200
# Words of a passage, stop words included.
SHORTEST, LONGEST = 40, 260

# Of 8,600 passages of papers, 4,500 of a manual and of encyclopedia articles: the 100th most
# frequent content word is 0.13 % of them, the 1,000th 0.02 %, the 10,000th 0.0005 %.
_COMMON, _ALL = 6_000, 300_000
_SHIFT = 50.0
_COMMON_SHARE = 0.8
_STOP_SHARE, _SUBJECT_SHARE = 0.4, 0.3
_SMALL = (
    "the of and a to in is that it for as with was on are be by this an or at from which not "
    "have has but they their were been its can will about there when"
)
_STOP_WORDS = np.array(_SMALL.split(), dtype=object)
_STOPS = frozenset(_STOP_WORDS)
_SYLLABLES = [f"{first}{vowel}" for first in "bcdfghjklmnprstvwzqx" for vowel in "aeiou"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]


@cache
def vocabulary() -> NDArray[np.object_]:
    """Every word by its rank: two syllables for the frequent ones, three for the others."""
    return np.array([_word(rank) for rank in range(_ALL)], dtype=object)


def _word(rank: int) -> str:
    """A word that no other rank has, with an end that no stemmer cuts."""
    number, parts = rank + len(_SYLLABLES), []
    while number:
        number, last = divmod(number, len(_SYLLABLES))
        parts.append(_SYLLABLES[last])
    return "".join(reversed(parts)) + "k"


def ranks(dice: np.random.Generator, shape: int | tuple[int, ...]) -> Ints:
    """Ranks of words, 0 the most frequent, as often as prose has them."""
    most = np.where(dice.random(shape) < _COMMON_SHARE, _COMMON, _ALL).astype(float)
    grown = (1 + most / _SHIFT) ** dice.random(shape)
    return np.minimum(_SHIFT * (grown - 1), most - 1).astype(np.int64)


class Passages:
    """The passages of one installation of `chunks` passages, from a seed."""

    def __init__(self, chunks: int, *, seed: int = 1) -> None:
        self.dice = np.random.default_rng(seed)
        self.subjects = max(1, chunks // (CHUNKS_A_NOTE * NOTES_A_SUBJECT))
        self.own_words = ranks(self.dice, (self.subjects, SUBJECT_WORDS))

    def texts(self, subjects: Ints) -> list[str]:
        """A passage for each subject."""
        words = vocabulary()
        shape = (len(subjects), LONGEST)
        own = self.own_words[
            subjects[:, None],
            (SUBJECT_WORDS ** self.dice.random(shape) - 1).astype(np.int64),
        ]
        content = np.where(self.dice.random(shape) < _SUBJECT_SHARE, own, ranks(self.dice, shape))
        stops = self.dice.integers(0, len(_STOP_WORDS), shape)
        is_stop = self.dice.random(shape) < _STOP_SHARE
        rows = np.where(is_stop, _STOP_WORDS[stops], words[content])
        lengths = self.dice.integers(SHORTEST, LONGEST, len(subjects))
        return [" ".join(row[:length]) for row, length in zip(rows, lengths, strict=True)]


def question_in(text: str, dice: np.random.Generator) -> str:
    """Two to nine words of a passage, among the small words that a question has."""
    content = [word for word in text.split() if word not in _STOPS]
    chosen = dice.choice(content, size=min(len(content), int(dice.integers(2, 10))), replace=False)
    return "what is the " + " of the ".join(chosen)
