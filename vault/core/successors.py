"""What stands in a text now in the place of words that stood in it once."""

from __future__ import annotations

import re
from collections import Counter

from vault.core.sentences import Span, sentence_spans

# Two wordings of one statement share most of their words; two statements of one note do not.
ALIKE_FROM = 0.5
# A longer text is searched for a passage from its beginning only.
LONGEST_TEXT = 500_000
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+")


def successor_of(quote: str, text: str) -> tuple[int, int] | None:
    """Characters of the sentences of `text` that say most of `quote` in other words.

    As many sentences as the quote has. None when nothing in the text is like it.
    """
    wanted = _words(quote)
    count = max(1, len(_sentences(quote)))
    spans = _sentences(text[:LONGEST_TEXT])
    bags = [_words(text[start:end]) for start, end in spans]
    best, found = ALIKE_FROM, None
    for first in range(max(1, len(spans) - count + 1)) if spans else ():
        last = min(first + count, len(spans))
        likeness = _likeness(wanted, sum(bags[first:last], Counter()))
        if likeness > best:
            best, found = likeness, (spans[first][0], spans[last - 1][1])
    return _trimmed(text, *found) if found else None


def _sentences(text: str) -> list[Span]:
    """Where the sentences of `text` stand that have words."""
    spans = sentence_spans(text, 0, len(text))
    return [(start, end) for start, end in spans if _WORD.search(text, start, end)]


def _words(text: str) -> Counter[str]:
    return Counter(word.casefold() for word in _WORD.findall(text))


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    """The share of all words of both that they have in common, 0 to 1."""
    return 2 * (one & other).total() / ((one.total() + other.total()) or 1)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Without white space and the signs of a list or a quote before it."""
    lead = re.match(r"[\s>*+\-#]*", text[start:end])
    start += lead.end() if lead else 0
    return start, start + len(text[start:end].rstrip())
