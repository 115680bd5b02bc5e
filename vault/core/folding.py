"""Spellings that readers take for one: without accents, vowel signs and invisible characters."""

from __future__ import annotations

import re
import unicodedata

import regex

# Soft hyphens, marks of direction, joiners that only forbid a break. The joiners that change
# letters (U+200C, U+200D) hold emoji together as well.
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_JOINERS = re.compile("[\u200c\u200d]")
# Letters that do not decompose, as PostgreSQL's unaccent writes them; Arabic ones that are
# written one for another, and Persian ones as Arabic keyboards have them.
_FOLDED = str.maketrans(
    {
        "ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i", "ß": "ss",
        "æ": "ae", "œ": "oe", "þ": "th", "ĸ": "k", "ŋ": "n", "ё": "е", "ς": "σ",
        "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ئ": "ي", "ؤ": "و",
        "ة": "ه", "ۀ": "ه", "ک": "ك", "ँ": "ं",
    }
)  # fmt: skip
_FOLDABLE = regex.compile(r"[\p{Latin}\p{Greek}]")
# What is left beside its letter: the stress in за́мок, the dot of a small İ.
_LOOSE = re.compile("[\u0300-\u036f]")
# Vowel signs of Hebrew and Arabic, the stroke that stretches an Arabic word, the dot below
# borrowed sounds of Hindi.
_SIGNS = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06ed\u093c]"
)
# A nasal before another consonant is written as a dot as well: पम्प, पंप.
_NASAL = re.compile("[ङञणनम]\u094d(?=[क-ह])")


def visible(text: str) -> str:
    """`text` without characters that nobody sees. What holds an emoji together stays."""
    return text if text.isascii() else _INVISIBLE.sub("", text)


def plain_form(text: str) -> str:
    """`text` in the one Unicode form of words: compatible (NFKC), nothing invisible."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _JOINERS.sub("", _INVISIBLE.sub("", text)))


def fold(text: str) -> str:
    """Lower case, Latin and Greek letters without diacritics, Hebrew, Arabic and Hindi ones
    without the signs that most writers leave out; others keep their marks.

    `й` and `ガ` are letters of their own, `ё` is written `е` by most people.
    """
    if text.isascii():
        return text.lower()
    bare = _NASAL.sub("ं", _SIGNS.sub("", unicodedata.normalize("NFD", text.lower())))
    folded: list[str] = []
    for char in _LOOSE.sub("", unicodedata.normalize("NFC", bare)).translate(_FOLDED):
        if char.isascii() or not _FOLDABLE.match(char):
            folded.append(char)
        else:
            parts = unicodedata.normalize("NFD", char)
            folded.append("".join(part for part in parts if not unicodedata.combining(part)))
    return "".join(folded)
