"""What must hold for the vectors that an embedding model returns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from providers.core.errors import ProtocolError
from providers.core.protocols import Vectors


def checked(rows: Sequence[Sequence[float]] | Vectors, *, count: int, dimensions: int) -> Vectors:
    """The rows as float32 (count, dimensions) with unit norm.

    Raises ProtocolError for a wrong number of rows, a wrong length, a value that is not
    finite, and a vector of zeros: its cosine distance to anything is not a number, so it
    would sort wrongly for ever.
    """
    if len(rows) != count:
        raise ProtocolError(f"{count} texts were sent and {len(rows)} vectors came back.")
    if count == 0:
        return np.zeros((0, dimensions), dtype=np.float32)
    for row in rows:
        if len(row) != dimensions:
            raise ProtocolError(
                f"The model returned vectors of {len(row)} dimensions; "
                f"its settings here say {dimensions}."
            )
    return _normalised(_as_floats(rows))


def in_order(items: Sequence[tuple[int, Sequence[float]]], *, count: int) -> list[Sequence[float]]:
    """Vectors in the order of the texts, given (index, vector) pairs in any order.

    Raises ProtocolError unless every index from 0 to count - 1 stands there once.
    """
    placed = dict(items)
    if len(placed) != len(items) or set(placed) != set(range(count)):
        raise ProtocolError(
            f"{count} texts were sent; the vectors that came back are numbered "
            f"{sorted(index for index, _ in items)[:10]}."
        )
    return [placed[index] for index in range(count)]


def _as_floats(rows: Sequence[Sequence[float]] | Vectors) -> Vectors:
    try:
        return np.asarray(rows, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ProtocolError("The model returned vectors that hold no numbers.") from error


def _normalised(vectors: Vectors) -> Vectors:
    if not np.isfinite(vectors).all():
        raise ProtocolError("The model returned a vector with values that are not finite.")
    norms = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    if (norms == 0).any():
        raise ProtocolError("The model returned a vector of zeros.")
    unit: Vectors = (vectors / norms).astype(np.float32)
    return unit
