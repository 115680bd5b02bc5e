"""How many tokens of the bundled embedder a text takes, without the embedder."""

from __future__ import annotations

import re

import regex

# Each match stands for about one token of the XLM-R vocabulary. The lengths were fitted
# on xquad in five languages, code, tables and random strings against the real tokenizer,
# so that hardly any text of a chunk's size is underestimated (tests/vault/core).
_PIECE = regex.compile(
    r"(?<=[0-9])\p{Ll}{1,2}"
    r"|(?<!\p{Ll})\p{Lu}?[\p{Ll}&&[\p{Latin}\p{Greek}]]{1,5}"
    r"|(?<!\p{Ll})\p{Lu}?\p{Cyrillic}{1,4}"
    r"|[\p{Ll}&&[\p{Latin}\p{Greek}\p{Cyrillic}]]{1,3}|\p{Ll}{1,2}"
    r"|\p{Lu}{1,2}"
    r"|[0-9]{1,2}"
    r"|[\p{Han}\U00020000-\U0003FFFF]"
    r"|[\p{Hiragana}\p{Katakana}ー]{1,2}"
    r"|(?<!\p{Hangul})\p{Hangul}|\p{Hangul}{1,2}"
    r"|[\p{Thai}\p{Lao}\p{Khmer}]{1,3}"
    r"|[\p{Arabic}\p{Hebrew}\p{Devanagari}\p{Tamil}--\p{P}]{1,3}"
    r"|(?<!\S)(?=[^\w\s])|[-=_*.~]{1,3}"
    r"|\S",
    regex.VERSION1,
)

_CHINESE_RUN = re.compile("[\u4e00-\u9fff]{2,}")
# The same for text in ASCII, where `re` is twice as fast.
_ASCII_PIECE = re.compile(
    r"(?<=[0-9])[a-z]{1,2}|(?<![a-z])[A-Z]?[a-z]{1,5}|[a-z]{1,3}|[A-Z]{1,2}|[0-9]{1,2}"
    r"|(?<!\S)(?=[^\w\s])|[-=_*.~]{1,3}|\S",
    re.ASCII,
)


def estimate_tokens(text: str) -> int:
    """Tokens of a text for a model with the XLM-R vocabulary, rather too many than too few."""
    if text.isascii():
        return len(_ASCII_PIECE.findall(text))
    # Each Chinese character is a token of its own: no need to match them one by one.
    lean = _CHINESE_RUN.sub("一", text)
    return len(_PIECE.findall(lean)) + len(text) - len(lean)
