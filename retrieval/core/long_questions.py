"""What of a long message is searched: its questions first, then its end and its beginning."""

from __future__ import annotations

import re

from retrieval.core.query import LONGEST_QUERY, clean
from vault.core.sentences import sentence_spans

# Pasted text with many questions would be as vague as the whole: the last ones are meant.
_MOST_QUESTIONS, LONGEST_QUESTIONS = 3, 400
_ASKS = re.compile(r"[?？؟][\"'”’»)\]*_\s]*$")


def shorten(text: str) -> str:
    """What to search for a message of any length: at most LONGEST_QUERY characters of it.

    A message that is longer keeps its sentences that ask, the last first, then others from
    its end and its beginning by turns; they stay in their order.
    """
    whole = clean(text, most=len(text))
    if len(whole) <= LONGEST_QUERY:
        return whole
    sentences = _sentences(whole)
    kept: set[int] = set()
    room = LONGEST_QUERY
    for number in _by_weight(sentences):
        if len(sentences[number]) + 1 <= room:
            kept.add(number)
            room -= len(sentences[number]) + 1
    return " ".join(sentences[number] for number in sorted(kept))


def questions_in(text: str) -> str:
    """The last sentences of `text` that ask, in their order; "" where none does."""
    asking = [each for each in _sentences(clean(text, most=len(text))) if _ASKS.search(each)]
    kept: list[str] = []
    for sentence in reversed(asking[-_MOST_QUESTIONS:]):
        if sum(map(len, kept)) + len(sentence) <= LONGEST_QUESTIONS:
            kept.insert(0, sentence)
    return " ".join(kept)


def _sentences(text: str) -> list[str]:
    """Sentences and lines; one that is too long to be searched whole by its ends."""
    found: list[str] = []
    for start, end in sentence_spans(text, 0, len(text)):
        sentence = " ".join(text[start:end].split())
        if len(sentence) >= LONGEST_QUERY // 2:
            found += [sentence[: LONGEST_QUERY // 4], sentence[-LONGEST_QUERY // 4 :]]
        elif sentence:
            found.append(sentence)
    return found


def _by_weight(sentences: list[str]) -> list[int]:
    """Numbers of the sentences: those that ask from the last on, then last, first, ..."""
    numbers = range(len(sentences))
    asking = [number for number in reversed(numbers) if _ASKS.search(sentences[number])]
    ends = [number for pair in zip(reversed(numbers), numbers, strict=True) for number in pair]
    return list(dict.fromkeys((*asking, *ends)))
