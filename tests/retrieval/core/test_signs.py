"""Vectors kept by their signs: what is nearest stays near, wherever a model puts its numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.core import signs
from retrieval.core.signs import BLOCK, Floats, asked, estimates, joined, nearest, signs_of


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
    return estimates(signs_of(vectors, centre=centre), asked(query, centre=centre))


@pytest.mark.parametrize(("size", "least"), [(36, 0.85), (128, 0.9), (384, 0.8), (1000, 0.75)])
@pytest.mark.parametrize("shared", [0.0, 0.5])
def test_the_hundred_best_hold_most_of_the_twenty_nearest(
    size: int, least: float, shared: float
) -> None:
    vectors, shares = cloud(3_000, size, seed=1, shared=shared), []
    for query in cloud(20, size, seed=2, shared=shared):
        true = set(np.argsort(-(vectors @ query))[:20].tolist())
        best = np.argsort(-estimated(vectors, query))[:100]
        shares.append(len(true & set(best.tolist())) / 20)
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
    kept = signs_of(vectors, centre=centre)
    assert kept.words.shape == (2 * -(-size // BLOCK), count)
    for place, vector in enumerate(vectors):
        own = estimates(kept, asked(vector, centre=centre))[place]
        np.testing.assert_allclose(own, np.square(vector).sum() / 2, rtol=1e-3)


def test_parts_put_together_are_one() -> None:
    vectors, centre = cloud(7, 40, seed=6), np.zeros(40, dtype=np.float32)
    whole = signs_of(vectors, centre=centre)
    parts = joined([signs_of(vectors[:3], centre=centre), signs_of(vectors[3:], centre=centre)])
    values = asked(vectors[0], centre=centre)
    np.testing.assert_array_equal(parts.words, whole.words)
    np.testing.assert_allclose(estimates(parts, values), estimates(whole, values), rtol=1e-5)


def test_a_vector_in_the_centre_is_at_the_distance_of_the_centre() -> None:
    centre = cloud(1, 40, seed=7)[0]
    kept = signs_of(centre[None, :], centre=centre)
    assert estimates(kept, asked(2 * centre, centre=centre)).tolist() == [0.0]


def test_of_very_many_those_with_the_fewest_differing_signs_are_estimated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vectors = cloud(4_000, 384, seed=8)
    centre = vectors.mean(axis=0)
    parts = [signs_of(vectors[a:b], centre=centre) for a, b in ((0, 10), (10, 10), (10, 4_000))]
    question = asked(cloud(1, 384, seed=9)[0], centre=centre)
    every = nearest(parts, question, count=50)
    assert every.tolist() == np.argsort(-estimates(joined(parts), question))[:50].tolist()
    monkeypatch.setattr(signs, "CLOSELY", 800)
    some = nearest(parts, question, count=50)
    assert len(some) == 50
    assert len(set(every.tolist()) & set(some.tolist())) >= 45
    assert some[0] == every[0]


def test_fewer_vectors_than_wanted_are_all_near() -> None:
    centre = np.zeros(40, dtype=np.float32)
    vectors = cloud(3, 40, seed=10)
    question = asked(vectors[1], centre=centre)
    assert nearest([signs_of(vectors, centre=centre)], question, count=10)[0] == 1
    none = signs_of(vectors[:0], centre=centre)
    assert nearest([none], question, count=10).tolist() == []
