"""Vectors that are not what was asked for are refused before anything stores them."""

from __future__ import annotations

import numpy as np
import pytest

from providers.core.errors import ProtocolError
from providers.core.vectors import checked, in_order


def test_good_vectors_come_back_with_unit_norm() -> None:
    vectors = checked([[3.0, 4.0], [0.0, -2.0]], count=2, dimensions=2)
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, [[0.6, 0.8], [0.0, -1.0]])


def test_none_asked_none_given() -> None:
    assert checked([], count=0, dimensions=7).shape == (0, 7)


def test_very_long_vectors_do_not_overflow() -> None:
    assert np.allclose(checked([[3e38, 3e38]], count=1, dimensions=2), [[0.70710677, 0.70710677]])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1.0, 0.0]], "2 texts were sent and 1 vectors came back"),
        ([[1.0, 0.0]] * 3, "2 texts were sent and 3 vectors"),
        ([[1.0], [1.0]], "vectors of 1 dimensions; its settings here say 2"),
        ([[1.0, 0.0], [1.0, float("nan")]], "not finite"),
        ([[1.0, 0.0], [float("inf"), 0.0]], "not finite"),
        ([[1.0, 0.0], [0.0, 0.0]], "vector of zeros"),
        ([[1.0, 0.0], ["x", 0.0]], "hold no numbers"),
        ([[1.0, 0.0], [None, {}]], "hold no numbers"),
    ],
)
def test_bad_vectors_are_named(rows: list[list[float]], message: str) -> None:
    with pytest.raises(ProtocolError, match=message):
        checked(rows, count=2, dimensions=2)


def test_rows_are_put_in_the_order_of_the_texts() -> None:
    assert in_order([(1, [2.0]), (0, [1.0])], count=2) == [[1.0], [2.0]]


@pytest.mark.parametrize(
    "items", [[(0, [1.0])], [(0, [1.0]), (0, [2.0])], [(1, [1.0]), (2, [1.0])]]
)
def test_missing_and_double_places_are_refused(items: list[tuple[int, list[float]]]) -> None:
    with pytest.raises(ProtocolError, match="2 texts were sent; the vectors that came back"):
        in_order(items, count=2)
