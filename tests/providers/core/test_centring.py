"""Without the mean of its language a vector says what its text says."""

from __future__ import annotations

import numpy as np

from providers.core.centring import KEPT, LanguageMeans, asked, centred
from providers.core.language import ANY

# The first two axes are languages, the others what is said.
MEANS = LanguageMeans(
    ("en", "ru"),
    passages=np.array([[0.9, 0, 0, 0], [0, 0.9, 0, 0]], dtype=np.float32),
    queries=np.array([[0.8, 0, 0, 0], [0, 0.8, 0, 0]], dtype=np.float32),
)


def unit(*rows: list[float]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    vectors = np.array(rows, dtype=np.float32)
    normal: np.ndarray[tuple[int, int], np.dtype[np.float32]] = vectors / np.linalg.norm(
        vectors, axis=1, keepdims=True
    )
    return normal


def test_what_is_said_wins_over_the_language_it_is_said_in() -> None:
    query = unit([0.9, 0, 0.4, 0])
    same_language, same_matter = unit([0.9, 0, 0, 0.4]), unit([0, 0.9, 0.4, 0])
    assert query[0] @ same_language[0] > query[0] @ same_matter[0]
    asked = centred(query, ["en"], means=MEANS, is_query=True)
    passages = centred(
        np.vstack([same_language, same_matter]), ["en", "ru"], means=MEANS, is_query=False
    )
    assert asked[0] @ passages[1] > asked[0] @ passages[0]


def test_a_question_keeps_a_part_of_its_language_beside_what_it_says() -> None:
    query = unit([0.9, 0, 0.4, 0], [0, 0.8, 0, 0.3])
    said = centred(query, ["en", "ru"], means=MEANS, is_query=True)
    kept = asked(query, ["en", "ru"], means=MEANS)
    for row, language in enumerate((0, 1)):
        rest = kept[row] - said[row] / np.linalg.norm(said[row])
        assert np.allclose(rest, KEPT * np.eye(4)[language], atol=1e-6)


def test_what_is_said_wins_over_the_language_that_a_question_keeps() -> None:
    kept = asked(unit([0.9, 0, 0.4, 0]), ["en"], means=MEANS)
    passages = centred(
        unit([0.9, 0, 0, 0.4], [0, 0.9, 0.4, 0]), ["en", "ru"], means=MEANS, is_query=False
    )
    assert kept[0] @ passages[1] > kept[0] @ passages[0]


def test_queries_and_passages_have_means_of_their_own() -> None:
    rows = unit([1, 0, 0, 0])
    assert np.allclose(centred(rows, ["en"], means=MEANS, is_query=True), [[0.2, 0, 0, 0]])
    assert np.allclose(centred(rows, ["en"], means=MEANS, is_query=False), [[0.1, 0, 0, 0]])


def test_a_language_without_a_mean_takes_that_of_all() -> None:
    rows = unit([0, 0, 1, 0])
    expected = [[-0.45, -0.45, 1, 0]]
    for language in (ANY, "th"):
        assert np.allclose(centred(rows, [language], means=MEANS, is_query=False), expected)


def test_no_vectors_stay_none() -> None:
    none = np.zeros((0, 4), dtype=np.float32)
    assert centred(none, [], means=MEANS, is_query=True).shape == (0, 4)
    assert asked(none, [], means=MEANS).shape == (0, 4)
