"""What meaning says of citations of which words alone cannot tell.

Words decide most: a figure, a name or a denial that only one side has is never borne out, and
a statement whose words stand together in a sentence of its passage is. What is left was put in
other words, into another language, or out of words from here and there: there the likeness of
the statement and the nearest sentence decides. Of a statement with another name in the place of
one of its passage it is the likeness of the two names.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from chat.core.citations import (
    NOT_JUDGED,
    Citation,
    Judged,
    Judgements,
    Quotable,
    elsewhere,
    nearest_sentences,
    swap_in,
)
from providers.core.protocols import Vectors

Meanings = Callable[[Sequence[str]], Awaitable[Vectors | None]]
"""Vectors of texts, a row each and of unit length; None where there is no model for it."""

# Cosines of the bundled embedder, centred by language, at which most of the pairs in
# benchmarks/citation_pairs*.json are told apart: docs/measurements.md has how many are.
SAME_IN_ANOTHER_LANGUAGE = 0.45
SAME_IN_OTHER_WORDS = 0.52
SAME_NAME = 0.67
# What is true is near to one sentence of its passage and made of its words. What comes as near
# to the next one, and what took its words from others, is less so. By a regression over
# the same pairs.
LESS_FOR_THE_NEXT = 0.25
LESS_FOR_ELSEWHERE = 0.66
# About 25 ms each on one core: a second for the whole answer at the most. Where words of the
# statement stand in the passage, the sentence that is meant is among those with most of them.
MOST_SENTENCES = 12
MOST_WITH_ITS_WORDS = 4
MOST_TEXTS = 40


@dataclass(frozen=True, slots=True)
class Doubt:
    """A citation that words do not decide: `said` may mean the same as one of `read`.

    It is borne out when the likeness of the nearest of them reaches `least`; then the quote
    is that one's place in the passage, by `spans`, where they have one.
    """

    citation: Citation
    passage: Quotable
    said: str
    read: tuple[str, ...]
    least: float
    spans: tuple[tuple[int, int], ...] = ()

    def likeness(self, cosines: Sequence[float]) -> float:
        """How much `said` is like the nearest of `read`, whose cosines are given."""
        if self.citation.rests_on in {"translation", "swap"}:
            return max(cosines)
        nearest, *others = sorted(cosines, reverse=True)
        less = LESS_FOR_THE_NEXT * max(others, default=0.0)
        return nearest - less - LESS_FOR_ELSEWHERE * elsewhere(self.said, self.passage)


def find_doubts(citations: Iterable[Citation], passages: Iterable[Quotable]) -> list[Doubt]:
    """The citations that meaning must decide, each once, as many as there is time for; last
    those that words alone would have called borne out."""
    by_number = {passage.number: passage for passage in passages}
    doubts: list[Doubt] = []
    texts: set[str] = set()
    asked = {(each.number, each.sentence): each for each in citations if each.rests_on}
    for citation in sorted(asked.values(), key=lambda each: each.rests_on == "scattered"):
        if citation.number not in by_number:
            continue
        doubt = _doubt(citation, by_number[citation.number])
        more = texts | {doubt.said, *doubt.read}
        if doubt.read and len(more) <= MOST_TEXTS:
            doubts.append(doubt)
            texts = more
    return doubts


def _doubt(citation: Citation, passage: Quotable) -> Doubt:
    said = citation.sentence
    if citation.rests_on == "swap" and (swap := swap_in(said, passage)):
        return Doubt(citation, passage, swap.said, (swap.read,), SAME_NAME)
    most = MOST_WITH_ITS_WORDS if citation.rests_on == "scattered" else MOST_SENTENCES
    spans = nearest_sentences(passage, said, most=most)
    is_translated = citation.rests_on == "translation"
    least = SAME_IN_ANOTHER_LANGUAGE if is_translated else SAME_IN_OTHER_WORDS
    read = tuple(passage.text[start:end] for start, end in spans)
    return Doubt(citation, passage, said, read, least, spans)


def texts_of(doubts: Iterable[Doubt]) -> list[str]:
    """Every text that has to be compared, once."""
    texts = (text for each in doubts for text in (each.said, *each.read))
    return list(dict.fromkeys(texts))


def settle(doubts: Sequence[Doubt], texts: Sequence[str], vectors: Vectors) -> Judgements:
    """What `vectors` of `texts`, a row each and of unit length, say of the doubts.

    A statement that is borne out gets the nearest sentence as its quote.
    """
    rows = {text: vectors[at] for at, text in enumerate(texts)}
    judged: dict[tuple[int, str], Judged] = {}
    for doubt in doubts:
        said = rows[doubt.said]
        near = [float(rows[text] @ said) for text in doubt.read]
        best = max(range(len(near)), key=near.__getitem__)
        is_weak, quote = doubt.likeness(near) < doubt.least, doubt.citation.quote
        start, end = quote.start, quote.end
        if doubt.spans and not is_weak and doubt.passage.is_exact:
            start, end = (doubt.passage.start + place for place in doubt.spans[best])
        judged[doubt.citation.number, doubt.citation.sentence] = Judged(start, end, is_weak)
    return judged


async def judge(
    citations: Iterable[Citation], passages: Iterable[Quotable], meanings: Meanings
) -> Judgements:
    """What meaning says of the citations that words do not decide; nothing without a model."""
    doubts = find_doubts(citations, passages)
    texts = texts_of(doubts)
    vectors = await meanings(texts) if texts else None
    return NOT_JUDGED if vectors is None else settle(doubts, texts, vectors)
