"""Language centring: what all texts of a language share is taken out of their vectors.

A multilingual embedder puts the texts of one language near each other whatever they say, so
that a question in English finds anything in English before its answer in Russian. Without
the language's mean they compare by what they say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from providers.core.language import ANY
from providers.core.protocols import Vectors

REVISION = "centred-1"
"""Part of the model's fingerprint: change it with the means of passages or with how a language
is told, and every vector of the bundled model is made again."""
KEPT = 0.5
"""How much of its language a question keeps, beside what it says as one: passages that say more
in the way of their language answer more. From 0.3 to 0.7 every set of questions gains or stays
(docs/retrieval.md)."""


@dataclass(frozen=True, slots=True)
class LanguageMeans:
    """Means of unit vectors: float32 (languages, d), row by `languages`. Queries and passages
    have different ones, because their prefixes move them."""

    languages: tuple[str, ...]
    passages: Vectors
    queries: Vectors

    def of(self, language: str, *, is_query: bool) -> Vectors:
        """The mean of `language`; of one without a row, the mean of all rows."""
        rows = self.queries if is_query else self.passages
        if language == ANY or language not in self.languages:
            overall: Vectors = rows.mean(axis=0, dtype=np.float32)
            return overall
        row: Vectors = rows[self.languages.index(language)]
        return row


def centred(
    vectors: Vectors, languages: Sequence[str], *, means: LanguageMeans, is_query: bool
) -> Vectors:
    """`vectors`, float32 (n, d) with unit norm, less the mean of each one's language.

    Not normalised again; never zero, as a mean of many texts is shorter than a unit vector.
    """
    if not len(vectors):
        return vectors
    away = np.stack([means.of(language, is_query=is_query) for language in languages])
    moved: Vectors = (vectors - away).astype(np.float32)
    return moved


def asked(vectors: Vectors, languages: Sequence[str], *, means: LanguageMeans) -> Vectors:
    """Queries, float32 (n, d) with unit norm, centred and with KEPT of their language again.

    For search alone, where passages are wholly centred: a language that both sides keep would
    put its texts near each other once more. Not normalised again.
    """
    if not len(vectors):
        return vectors
    away = np.stack([means.of(language, is_query=True) for language in languages])
    said, kept = _of_unit_length(vectors - away), _of_unit_length(away)
    moved: Vectors = (said + KEPT * kept).astype(np.float32)
    return moved


def _of_unit_length(rows: Vectors) -> Vectors:
    normal: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return normal
