"""Vectors spread as those of the bundled embedder: by subject, note and passage."""

from __future__ import annotations

import numpy as np
from speed_text import CHUNKS_A_NOTE, DIMENSIONS, NOTES_A_SUBJECT, Floats, Ints

# Variance of the principal axes of 437 real vectors of notes in two languages: it falls with
# this power of the axis' number, 4 % on the first axes and 0.2 % on the hundredth.
_SHIFT, _POWER = 3.0, 0.8
# What two passages share, so that their cosines are those of real ones (medians): 0.15 with
# nothing in common, 0.35 under a subject, 0.6 in a note.
_ALWAYS, _SUBJECT, _NOTE, _OWN = 0.15, 0.2, 0.25, 0.4
# Cosine of a question and the passage that answers it: 0.34 to 0.77 in real sets.
_ANSWERED = 0.55


class Cloud:
    """The vectors of an installation of `chunks` passages, from a seed."""

    def __init__(self, chunks: int, *, seed: int = 2) -> None:
        self.dice = np.random.default_rng(seed)
        # Their own: with the numbers that passages begin with, question 5 would be note 5.
        self.asking = np.random.default_rng((seed, 1))
        axes = (np.arange(DIMENSIONS) + _SHIFT) ** -_POWER
        self.spread = np.sqrt(axes / axes.sum()).astype(np.float32)
        self.always = self._parts(1)
        self.subjects = self._parts(max(1, chunks // (CHUNKS_A_NOTE * NOTES_A_SUBJECT)))

    def passages(self, subjects: Ints, notes: Ints) -> Floats:
        """Unit vectors (n, 384); rows of one note share its part, so they come in one call."""
        _, place = np.unique(notes, return_inverse=True)
        parts = (
            np.sqrt(_ALWAYS) * self.always,
            np.sqrt(_SUBJECT) * self.subjects[subjects],
            np.sqrt(_NOTE) * self._parts(int(place.max()) + 1)[place],
            np.sqrt(_OWN) * self._parts(len(subjects)),
        )
        return _unit(sum(parts[1:], start=parts[0]))

    def question(self, passage: Floats) -> Floats:
        """A question (384,) that `passage` answers."""
        other = np.sqrt(_ALWAYS) * self.always[0] + np.sqrt(1 - _ALWAYS) * self._noise()
        # `other` is at _ALWAYS to the passage: what is missing comes from the passage itself.
        share = (_ANSWERED - _ALWAYS) / (1 - _ALWAYS)
        return _unit(share * passage + np.sqrt(1 - share**2) * _unit(other))

    def _noise(self) -> Floats:
        return self.asking.standard_normal(DIMENSIONS, dtype=np.float32) * self.spread

    def _parts(self, count: int) -> Floats:
        return self.dice.standard_normal((count, DIMENSIONS), dtype=np.float32) * self.spread


def _unit(vectors: Floats) -> Floats:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
