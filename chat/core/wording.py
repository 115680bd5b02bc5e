"""What words tell of two texts: how much they share, and where one goes against the other."""

from __future__ import annotations

import regex

from vault.core.language import common_words, is_latin, text_config

_WORD = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]|[\p{L}\p{M}\p{N}]+", regex.V1
)
# Words are compared by their first letters: enough to join "repair" and "repaired".
STEM = 5
_SHORTEST_PLURAL = 3
# Fewer words may stand anywhere.
FEWEST_WORDS_OF_A_QUOTE = 4
_NAME = regex.compile(r"\w*[\p{L}\p{N}]_[\p{L}\p{N}]\w*")
# Words that turn a statement round, in the languages that the index knows best.
_DENIED = """
not no never none cannot without nicht kein keine keinen keiner nie niemals ohne
не нет нельзя никогда без ні немає ніколи ne pas jamais aucun aucune sans
"""
_DENIALS = frozenset(_DENIED.split())
# Words of which one says what the other does not: what is so many above is not below.
_OPPOSITES = (
    ("above", "below"), ("more", "less"), ("more", "fewer"), ("maximum", "minimum"),
    ("double", "half"), ("oberhalb", "unterhalb"), ("mehr", "weniger"),
    ("mindestens", "höchstens"), ("doppelt", "halb"), ("выше", "ниже"), ("больше", "меньше"),
    ("более", "менее"), ("максимум", "минимум"), ("вдвое", "половину"),
    ("高于", "低于"), ("大于", "小于"), ("最多", "最少"),
)  # fmt: skip


def stems_of(text: str) -> frozenset[str]:
    """Words by their first letters; one letter alone says nothing, a digit does."""
    words = (match[0].casefold() for match in _WORD.finditer(text))
    whole = (w for w in words if len(w) > 1 or not w.isascii() or w.isdigit())
    return frozenset(_singular(w)[:STEM] for w in whole)


def _singular(word: str) -> str:
    """The word less the s of a plural, which would else be part of a short word's stem."""
    is_plural = len(word) > _SHORTEST_PLURAL and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if is_plural else word


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


def names(text: str) -> frozenset[str]:
    """Identifiers in `text`, such as QUEUE_LIMIT."""
    return frozenset(match[0].casefold() for match in _NAME.finditer(text))


def denies(statement: str, sentence: str) -> bool:
    """Whether one of the two says what the other denies, being about the same words."""
    words, others = _words(statement), _words(sentence)
    return bool(words & _DENIALS) != bool(others & _DENIALS) and bool(words & others)


def stands_in(statement: str, text: str) -> bool:
    """Whether `text` has the statement word for word, however the two are marked up."""
    said, read = (
        [match[0].casefold() for match in _WORD.finditer(each)] for each in (statement, text)
    )
    return len(said) >= FEWEST_WORDS_OF_A_QUOTE and f" {' '.join(said)} " in f" {' '.join(read)} "


def contradicts(statement: str, sentence: str) -> bool:
    """Whether one says the opposite of the other by one of a few pairs of words."""
    said, read = _with_han(statement), _with_han(sentence)
    return any(
        {one, other} & said == {mine} and {one, other} & read == {theirs}
        for one, other in _OPPOSITES
        for mine, theirs in ((one, other), (other, one))
    )


def _with_han(text: str) -> frozenset[str]:
    """The words of `text`, and those of the pairs above that stand in it without spaces."""
    han = {word for pair in _OPPOSITES for word in pair if word >= "\u4e00" and word in text}
    return _words(text) | han


def _words(text: str) -> frozenset[str]:
    return frozenset(match[0].casefold() for match in _WORD.finditer(text))
