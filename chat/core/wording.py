"""What words tell of two texts: how much they share, and where one goes against the other."""

from __future__ import annotations

import regex

from vault.core.language import common_words, is_latin, text_config

_WORD = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]|[\p{L}\p{M}\p{N}]+", regex.V1
)
# Words are compared by their first letters: enough to join "repair" and "repaired".
STEM = 5
_NAME = regex.compile(r"\w*[\p{L}\p{N}]_[\p{L}\p{N}]\w*")
_FIGURE = regex.compile(r"\d+")
_THOUSANDS = regex.compile(r"(?<=\d)[,.\u00a0\u202f ](?=\d{3}(?!\d))")
# Words that turn a statement round, in the languages that the index knows best.
_DENIED = """
not no never none cannot without nicht kein keine keinen keiner nie niemals ohne
не нет нельзя никогда без ні немає ніколи ne pas jamais aucun aucune sans
"""
_DENIALS = frozenset(_DENIED.split())
# A longer run of digits is a name, not a figure.
MOST_FIGURE = 19


def stems_of(text: str) -> frozenset[str]:
    """Words by their first letters; one letter alone says nothing, a digit does."""
    words = (match[0].casefold() for match in _WORD.finditer(text))
    return frozenset(w[:STEM] for w in words if len(w) > 1 or not w.isascii() or w.isdigit())


def weight(stems: frozenset[str]) -> float:
    """Long words and numbers tell more than short words."""
    return sum(STEM if any(c.isdigit() for c in stem) else len(stem) for stem in stems)


def closeness(statement: frozenset[str], sentence: frozenset[str]) -> tuple[float, float]:
    """What a sentence shares with a statement; of equals the one that says less besides."""
    shared = weight(statement & sentence)
    return shared, shared / (weight(sentence) or 1)


def is_translation(statement: str, text: str, language: str) -> bool:
    """Whether the statement is in another language than `text`, whose own is given.

    A sentence has few words that tell its language: two more of another one are asked for.
    """
    if is_latin(statement) != is_latin(text):
        return True
    spoken = text_config(statement)
    if "simple" in {spoken, language} or spoken == language:
        return False
    own = common_words(statement, language)
    return common_words(statement, spoken) >= own + 2


def figures(text: str) -> frozenset[int]:
    """The whole numbers in `text`, however they are grouped or padded."""
    plain = _THOUSANDS.sub("", text)
    return frozenset(
        int(match[0]) for match in _FIGURE.finditer(plain) if len(match[0]) < MOST_FIGURE
    )


def names(text: str) -> frozenset[str]:
    """Identifiers in `text`, such as QUEUE_LIMIT."""
    return frozenset(match[0].casefold() for match in _NAME.finditer(text))


def denies(statement: str, sentence: str) -> bool:
    """Whether one of the two says what the other denies, being about the same words."""
    words, others = _words(statement), _words(sentence)
    return bool(words & _DENIALS) != bool(others & _DENIALS) and bool(words & others)


def _words(text: str) -> frozenset[str]:
    return frozenset(match[0].casefold() for match in _WORD.finditer(text))
