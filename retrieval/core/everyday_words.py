"""Words of everyday use in any of some sixty languages, which are no slip of another word.

Of a question in another language than the notes such words stand in none of them, and one letter
off there is always something: German "viele" is not "vier".
"""

from __future__ import annotations

from functools import cache

import regex
from stopwordsiso import langs, stopwords

_WORD = regex.compile(r"[\p{L}\p{M}]+")


def everyday_words_in(text: str) -> tuple[str, ...]:
    """The words of `text`, in small letters, that are everyday words somewhere; each once."""
    words = dict.fromkeys(_WORD.findall(text.lower()))
    return tuple(word for word in words if word in _everyday())


@cache
def _everyday() -> frozenset[str]:
    return frozenset(stopwords(langs()))
