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
# Parts of a sentence that say something each: who does what, and who does what else.
_PART = regex.compile(
    r"(?<!\d)[,:]|[,:](?!\d)|[;，；、：。—()]+|\s(?:and|but|while|und|aber|и|а|но|і|та|et|mais)\s"
)
# Letters of a stem that tells of what is spoken.
_TELLING = 4


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


def stands_in(statement: str, text: str) -> bool:
    """Whether `text` has the statement word for word, however the two are marked up."""
    said, read = (
        [match[0].casefold() for match in _WORD.finditer(each)] for each in (statement, text)
    )
    return len(said) >= FEWEST_WORDS_OF_A_QUOTE and f" {' '.join(said)} " in f" {' '.join(read)} "


def clauses(sentence: str) -> list[str]:
    """The parts of a sentence, at its commas and its words for "and"."""
    return [part.strip() for part in _PART.split(sentence) if part.strip()]


def telling(text: str) -> frozenset[str]:
    """The stems that say of what is spoken; figures say how much."""
    return telling_of(stems_of(text))


def telling_of(stems: frozenset[str]) -> frozenset[str]:
    """Those of the stems that say of what is spoken."""
    return frozenset(stem for stem in stems if len(stem) >= _TELLING and not stem.isdigit())


def words_of(text: str) -> frozenset[str]:
    return frozenset(match[0].casefold() for match in _WORD.finditer(text))
