"""Chunks in another language than the question: its words cannot be expected there.

That a keyword is missing says something about a text in the question's language, and
nothing about one in another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from providers.core.language import ANY, language_of

# Below this a question says too little of its language: "backup kafka" is no English.
_LEAST_WORDS = 3
# Scripts without spaces: a run of letters this long is a question.
_LEAST_LETTERS = 4
_WORD = re.compile(r"[^\W\d_]+")
UNSPACED = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_CONFIGS = {
    "en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian",
    "pt": "portuguese", "nl": "dutch", "sv": "swedish", "da": "danish", "nb": "norwegian",
    "fi": "finnish", "hu": "hungarian", "ro": "romanian", "tr": "turkish", "id": "indonesian",
    "ru": "russian", "el": "greek", "ar": "arabic", "hi": "hindi", "sr": "serbian",
}  # fmt: skip
_ALL_CONFIGS = tuple(sorted({*_CONFIGS.values(), "armenian", "catalan", "lithuanian", "nepali"}))
# Letters of the scripts that are not Latin.
_LETTERS = {
    "ru": "\u0400-\u04ff", "uk": "\u0400-\u04ff", "bg": "\u0400-\u04ff", "sr": "\u0400-\u04ff",
    "zh": "\u3400-\u9fff", "ja": "\u3040-\u30ff", "ko": "\uac00-\ud7af", "th": "\u0e00-\u0e7f",
    "el": "\u0370-\u03ff", "he": "\u0590-\u05ff", "ar": "\u0600-\u06ff", "fa": "\u0600-\u06ff",
    "hi": "\u0900-\u097f",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Foreign:
    """Which chunks are foreign to a question.

    Those under one of `configs`; of those under `simple`, which is every language without
    a stemmer, the ones that hold the regular expression `present`, or do not hold `absent`.
    """

    configs: tuple[str, ...] = ()
    present: str = ""
    absent: str = ""


# Asked twice of each question.
_language_of = lru_cache(maxsize=64)(language_of)


def own_config(question: str) -> str:
    """The text search configuration of the language of `question`; `simple` where it has none,
    or the language is uncertain."""
    return _CONFIGS.get(_language_of(question), "simple")


def foreign_to(question: str) -> Foreign:
    """What is foreign to `question`; nothing where its language is uncertain."""
    language = _language_of(question)
    if language == ANY or not _is_long_enough(question):
        return Foreign()
    own = _CONFIGS.get(language, "")
    configs = tuple(config for config in _ALL_CONFIGS if config != own)
    letters = _LETTERS.get(language)
    if letters:
        return Foreign(configs, absent=f"[{letters}]{{2}}")
    return Foreign(configs, present=f"[{UNSPACED}]{{3}}")


def _is_long_enough(question: str) -> bool:
    words = _WORD.findall(question)
    unspaced = re.findall(f"[{UNSPACED}]", question)
    return len(words) >= _LEAST_WORDS or len(unspaced) >= _LEAST_LETTERS
