"""Vectors kept by their signs: what is nearest stays near, wherever a model puts its numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.signs import BLOCK, Floats, estimates, joined, signs_of, word_values


def cloud(count: int, size: int, *, seed: int, shared: float = 0.0) -> Floats:
    """Unit vectors (count, size); most of what they say stands in a few of their numbers."""
    dice = np.random.default_rng(seed)
    spread = (np.arange(size) + 3.0) ** -0.8
    rows = dice.standard_normal((count, size)) * spread / np.linalg.norm(spread)
    rows += shared
    unit: Floats = (rows / np.linalg.norm(rows, axis=1)[:, None]).astype(np.float32)
    return unit


def estimated(vectors: Floats, query: Floats) -> Floats:
    centre = vectors.mean(axis=0)
    return estimates(signs_of(vectors, centre=centre), word_values(query, centre=centre))


@pytest.mark.parametrize(("size", "least"), [(36, 0.85), (128, 0.9), (384, 0.8), (1000, 0.75)])
@pytest.mark.parametrize("shared", [0.0, 0.5])
def test_the_hundred_best_hold_most_of_the_twenty_nearest(
    size: int, least: float, shared: float
) -> None:
    vectors, shares = cloud(3_000, size, seed=1, shared=shared), []
    for query in cloud(20, size, seed=2, shared=shared):
        nearest = set(np.argsort(-(vectors @ query))[:20].tolist())
        best = np.argsort(-estimated(vectors, query))[:100]
        shares.append(len(nearest & set(best.tolist())) / 20)
    assert float(np.mean(shares)) > least


def test_an_estimate_is_about_half_the_square_of_the_distance() -> None:
    vectors = cloud(500, 384, seed=4)
    query = cloud(1, 384, seed=5)[0]
    true = -np.square(vectors - query).sum(axis=1) / 2
    off = estimated(vectors, query) - true
    assert float(np.std(off)) < float(np.std(true)) / 2


@given(count=st.integers(0, 5), size=st.integers(1, 2 * BLOCK + 3), seed=st.integers(0, 2**32 - 1))
def test_a_vector_is_as_near_to_itself_as_its_length_says(count: int, size: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).standard_normal((count, size)).astype(np.float32)
    centre = np.zeros(size, dtype=np.float32)
    signs = signs_of(vectors, centre=centre)
    assert signs.words.shape == (8 * -(-size // BLOCK), count)
    for place, vector in enumerate(vectors):
        own = estimates(signs, word_values(vector, centre=centre))[place]
        np.testing.assert_allclose(own, np.square(vector).sum() / 2, rtol=1e-3)


def test_parts_put_together_are_one() -> None:
    vectors, centre = cloud(7, 40, seed=6), np.zeros(40, dtype=np.float32)
    whole = signs_of(vectors, centre=centre)
    parts = joined([signs_of(vectors[:3], centre=centre), signs_of(vectors[3:], centre=centre)])
    values = word_values(vectors[0], centre=centre)
    np.testing.assert_array_equal(parts.words, whole.words)
    np.testing.assert_allclose(estimates(parts, values), estimates(whole, values), rtol=1e-5)


def test_a_vector_in_the_centre_is_at_the_distance_of_the_centre() -> None:
    centre = cloud(1, 40, seed=7)[0]
    signs = signs_of(centre[None, :], centre=centre)
    assert estimates(signs, word_values(2 * centre, centre=centre)).tolist() == [0.0]
