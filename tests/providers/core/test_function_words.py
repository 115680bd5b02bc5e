"""Words that carry a question, by its language."""

from __future__ import annotations

import pytest

from providers.core.function_words import folded, function_words


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("How do I change the key?", "how"),
        ("Как изменить этот ключ и что это?", "что"),
        ("Wie wird der Schlüssel gewechselt und für wen?", "fur"),
        ("Comment changer la clé et où est-elle ?", "ou"),
    ],
)
def test_each_language_has_its_own(question: str, word: str) -> None:
    assert word in function_words(question)
    assert "key" not in function_words(question)


def test_a_word_of_another_language_is_kept() -> None:
    assert "die" not in function_words("Which plants die in winter?")


def test_words_are_compared_without_case_and_accents() -> None:
    assert folded("Für ÉTÉ й") == "fur ete и"
