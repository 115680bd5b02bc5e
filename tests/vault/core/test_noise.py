"""Where chance ends: a bar for every scale, low, and none where nothing can be told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.core.noise import LEAST_PASSAGES, QUESTIONS, Vectors, noise_of

ASKED = len(QUESTIONS)


def directions(count: int, *, seed: int, size: int = 64) -> Vectors:
    rows = np.random.default_rng(seed).normal(size=(count, size)).astype(np.float32)
    unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def squeezed(vectors: Vectors, share: float) -> Vectors:
    """Vectors whose cosines are 1 - share + share * cosine, as if all had a part in common."""
    common = np.full((len(vectors), 1), np.sqrt(1 - share), dtype=np.float32)
    return np.hstack([common, np.sqrt(share) * vectors]).astype(np.float32)


def test_the_bar_lies_among_the_nearest_of_what_has_nothing_to_do_with_the_questions() -> None:
    asked, passages = directions(ASKED, seed=1), directions(400, seed=2)
    noise = noise_of(asked, passages)
    nearest = (asked @ passages.T).max(axis=1)
    assert noise.bar is not None
    assert nearest.min() < noise.bar < np.median(nearest)
    assert noise.passages == 400


@pytest.mark.parametrize("share", [0.9, 0.5, 0.2])
def test_it_moves_with_the_scale_of_a_model(share: float) -> None:
    asked, passages = directions(ASKED, seed=1), directions(400, seed=2)
    plain = noise_of(asked, passages)
    narrow = noise_of(squeezed(asked, share), squeezed(passages, share))
    assert plain.bar is not None
    assert narrow.bar == pytest.approx(1 - share + share * plain.bar, abs=1e-4)


def test_a_scale_too_narrow_to_tell_has_no_bar() -> None:
    asked, passages = directions(ASKED, seed=1), directions(400, seed=2)
    noise = noise_of(squeezed(asked, 0.05), squeezed(passages, 0.05))
    assert noise.bar is None
    assert 0 < noise.spread < 0.01
    same = np.repeat(passages[:1], 400, axis=0)
    assert noise_of(np.repeat(asked[:1], ASKED, axis=0), same).bar is None


def test_a_vault_about_these_very_questions_lifts_the_bar_no_further_than_chance() -> None:
    asked, passages = directions(ASKED, seed=1), directions(400, seed=2)
    passages[:ASKED] = asked
    noise = noise_of(asked, passages)
    assert noise.bar is not None
    assert noise.bar <= (asked @ passages.T).mean() + 3 * noise.spread + 1e-6
    assert noise.bar < 0.6


def test_too_few_passages_tell_nothing() -> None:
    asked = directions(ASKED, seed=1)
    assert noise_of(asked, directions(LEAST_PASSAGES - 1, seed=2)).bar is None
    assert noise_of(asked, directions(LEAST_PASSAGES, seed=2)).bar is not None


def test_the_questions_are_many_and_of_many_scripts() -> None:
    assert len(set(QUESTIONS)) == ASKED >= 40
    scripts = {ord(question[0]) >> 8 for question in QUESTIONS}
    assert len(scripts) >= 5


@given(st.integers(0, 1000), st.integers(100, 160))
def test_it_is_a_cosine_and_the_same_each_time(seed: int, count: int) -> None:
    asked, passages = directions(20, seed=seed), directions(count, seed=seed + 1)
    noise = noise_of(asked, passages)
    assert noise.bar is not None
    assert -1 <= noise.bar <= 1
    assert noise == noise_of(asked, passages)
