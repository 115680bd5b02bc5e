"""Citations: what marks like [2] in an answer cite, and the sentence that bears them out.

Support is judged by shared words, by the figures a statement has and by denials that only
one side makes: weak is a hint for the reader's own look, no verdict. How well it does is
measured by benchmarks/citations.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Literal

import regex

from chat.core.figures import all_figures, counted, figures, number_words
from chat.core.marks import Marker
from chat.core.polarity import denies, goes_against
from chat.core.swaps import Swap, find_swap
from chat.core.wording import (
    closeness,
    is_translation,
    names,
    stands_in,
    stems_of,
    telling_of,
    weight,
)
from vault.core.language import text_config

Undecided = Literal["words", "translation", "scattered", "swap"]

_SENTENCE_END = regex.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s|$)|[。！？]+[”’」』）]*|\n+")
_LEAD = regex.compile(r"\s*(?:#{1,6}\s+|>\s?|[-*+]\s+(?:\[[ xX]\]\s+)?|\d+[.)]\s+|\|\s*)*")
_GAP = regex.compile(r"\s+(?=[.,;:!?。！？、，；：])")
# Below this share of a sentence's words in its passage the support counts as weak.
WEAK_BELOW = 0.5
# A share of this size in one sentence says enough. Words that stand here and there in a passage
# may say anything: of the pairs in benchmarks/, most false statements are made of such.
TOGETHER_FROM = 0.65
LONGEST_QUOTE = 400
# Sentences in which a name may have been replaced: one that shares less speaks of other things.
MOST_WITH_SWAPS = 5
# Stems that tell of what is spoken: two sentences that speak of the same share so many.
_SAME_SUBJECT = 2


@dataclass(frozen=True)
class Quotable:
    """A passage that an answer may cite. `start` and `end` are its place in the note.

    `outline` tells from which character of the note on which heading path holds.
    """

    number: int
    title: str
    text: str
    start: int
    end: int
    note_url: str
    source_id: int
    vault_name: str = ""
    outline: tuple[tuple[int, tuple[str, ...]], ...] = ()

    def url(self, quote: Quote) -> str:
        """The note, opened at `quote`; empty when the note is gone."""
        if not self.note_url:
            return ""
        return f"{self.note_url}?span={quote.start}-{quote.end}&source={self.source_id}"

    def headings_at(self, offset: int) -> tuple[str, ...]:
        """The heading path of a place of the passage, less the note's title."""
        path: tuple[str, ...] = ()
        for start, headings in self.outline:
            if start > offset:
                break
            path = headings
        return path[1:] if path[:1] == (self.title,) else path

    @property
    def whole(self) -> Quote:
        """The passage itself as a quote."""
        return Quote(self.start, self.end, self.text[:LONGEST_QUOTE], weak=False)

    @property
    def is_exact(self) -> bool:
        """Whether its text is letter by letter what stands in the note."""
        return len(self.text) == self.end - self.start

    def quote_at(self, judged: Judged) -> Quote:
        """The quote that was judged; the whole passage where it is not exactly in it."""
        start, end = judged.start - self.start, judged.end - self.start
        if not self.is_exact or not 0 <= start < end <= len(self.text):
            return replace(self.whole, weak=judged.weak)
        end = min(end, start + LONGEST_QUOTE)
        text = self.text[start:end]
        return Quote(self.start + start, self.start + end, text, weak=judged.weak)

    @cached_property
    def sentences(self) -> tuple[_Sentence, ...]:
        return tuple(
            _Sentence(at, start, end, self.text[start:end], self._is_row(start))
            for at, (start, end) in enumerate(sentence_spans(self.text))
        )

    @cached_property
    def language(self) -> str:
        return text_config(self.text)

    def _is_row(self, offset: int) -> bool:
        """Whether the line that holds the character is a row of a table."""
        begin = self.text.rfind("\n", 0, offset) + 1
        return self.text[begin:].lstrip().startswith("|")

    def figures_near(self, nearest: _Sentence | None, stems: frozenset[str]) -> frozenset[str]:
        """The figures that may bear a statement of these stems out, whose nearest sentence is
        given: those of it, of the ones beside it, and of others that speak of the same.

        A row of a table speaks for itself, under the first row.
        """
        telling = telling_of(stems)
        if nearest is None or not telling & nearest.stems:  # as in another language
            return all_figures(self.text)
        found: set[str] = set()
        for each in self.sentences:
            is_beside = abs(each.at - nearest.at) <= 1 and not (each.is_row or nearest.is_row)
            is_head = nearest.is_row and each.is_row and not self._is_row_before(each)
            is_about_the_same = len(telling & each.stems) >= _SAME_SUBJECT
            if each is nearest or is_beside or is_head or is_about_the_same:
                found |= each.figures
        return frozenset(found)

    def _is_row_before(self, sentence: _Sentence) -> bool:
        return sentence.at > 0 and self.sentences[sentence.at - 1].is_row

    @cached_property
    def names(self) -> frozenset[str]:
        return names(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(stems_of(self.text))


@dataclass(frozen=True, slots=True)
class Quote:
    """The sentence of a note that bears out a statement: characters of the note's body."""

    start: int
    end: int
    text: str
    weak: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """What was found of a citation when its answer ended: its quote, by the characters of
    the note's body, and whether it is weak."""

    start: int
    end: int
    weak: bool


Judgements = Mapping[tuple[int, str], Judged]
"""By the number of the passage and the sentence that cites it."""
NOT_JUDGED: Judgements = {}


@dataclass(frozen=True, slots=True)
class Citation:
    """A statement of an answer, the passage it cites and the quote that bears it out.

    `rests_on` is why words do not decide: another language, other words, words that no one
    sentence has together, or a name in the place of another.
    """

    number: int
    sentence: str
    quote: Quote
    url: str
    headings: tuple[str, ...] = ()
    rests_on: Undecided | None = None

    def as_json(self) -> dict[str, object]:
        return {
            "n": self.number,
            "sentence": self.sentence,
            "quote": self.quote.text,
            "quote_start": self.quote.start,
            "quote_end": self.quote.end,
            "headings": list(self.headings),
            "weak": self.quote.weak,
            "url": self.url,
        }


def cite(passage: Quotable, sentence: str, judged: Judgements = NOT_JUDGED) -> Citation:
    """The citation of `passage` for a statement, as it was judged or as words tell."""
    found = judged.get((passage.number, sentence))
    quote = passage.quote_at(found) if found else find_quote(passage, sentence)
    headings = passage.headings_at(quote.start)
    rests_on = None if found else undecided(passage, sentence)
    return Citation(passage.number, sentence, quote, passage.url(quote), headings, rests_on)


def judgements(kept: Iterable[Mapping[str, Any]]) -> Judgements:
    """What was found of the citations that an answer keeps, in the form of `as_json`."""
    return {
        (each["n"], each["sentence"]): Judged(each["quote_start"], each["quote_end"], each["weak"])
        for each in kept
        if each.keys() >= {"n", "sentence", "quote_start", "quote_end", "weak"}
    }


def find_quote(passage: Quotable, statement: str) -> Quote:
    """The sentence of the passage that shares most with `statement`.

    The whole passage when nothing is shared, or when its text is not letter by letter
    what stands in the note.
    """
    stems = stems_of(statement)
    best = _nearest(passage, stems)
    weak = _is_refuted(passage, statement, best) or _undecided(stems, passage, statement) == "words"
    if best is None or not passage.is_exact or not stems & best.stems:
        return Quote(passage.start, passage.end, passage.whole.text, weak=weak)
    end = min(best.end, best.start + LONGEST_QUOTE)
    text = passage.text[best.start : end]
    return Quote(passage.start + best.start, passage.start + end, text, weak=weak)


def undecided(passage: Quotable, statement: str) -> Undecided | None:
    """What keeps words from deciding whether the passage bears `statement` out."""
    stems = stems_of(statement)
    if not stems or _is_refuted(passage, statement, _nearest(passage, stems)):
        return None
    return _undecided(stems, passage, statement)


def nearest_sentences(
    passage: Quotable, statement: str, *, most: int
) -> tuple[tuple[int, int], ...]:
    """Where the sentences of the passage stand that share most with `statement`: at most so
    many, the earlier first where they share as much."""
    stems = stems_of(statement)
    order = sorted(passage.sentences, key=lambda s: closeness(stems, s.stems), reverse=True)
    return tuple((sentence.start, sentence.end) for sentence in order[:most])


@lru_cache(maxsize=256)  # asked for twice of each citation
def swap_in(statement: str, passage: Quotable) -> Swap | None:
    """The name that the statement has in the place of another of its nearest sentences."""
    near = nearest_sentences(passage, statement, most=MOST_WITH_SWAPS)
    return find_swap(statement, [passage.text[start:end] for start, end in sorted(near)])


def elsewhere(statement: str, passage: Quotable) -> float:
    """The share, by weight, of the words of `statement` that the passage has, but not in the
    sentence that has most of them."""
    stems = stems_of(statement)
    return weight(stems & passage.stems) / (weight(stems) or 1) - share_of(statement, passage)


def share_of(statement: str, passage: Quotable) -> float:
    """The share, by weight, of the words of `statement` that one sentence of the passage has."""
    stems = stems_of(statement)
    shared = (weight(stems & sentence.stems) for sentence in passage.sentences)
    return max(shared, default=0.0) / (weight(stems) or 1)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where the sentences of `text` stand, less list marks, quote marks and white space."""
    spans, begin = [], 0
    for match in _SENTENCE_END.finditer(text):
        spans.append((begin, match.end()))
        begin = match.end()
    spans.append((begin, len(text)))
    trimmed = (_trim(text, start, end) for start, end in spans)
    return [span for span in trimmed if span[0] < span[1]]


def sentence_of(text: str, markers: Sequence[Marker], marker: Marker) -> str:
    """The sentence that `marker` stands in, or directly after; without its marks."""
    blank = text
    for other in markers:
        blank = blank[: other.start] + " " * (other.end - other.start) + blank[other.end :]
    before = len(blank[: marker.start].rstrip())
    at = before - 1 if before else marker.end
    spans = sentence_spans(blank)
    for start, end in spans:
        if start <= at < end:
            return _tidy(blank[start:end])
    return next((_tidy(blank[start:end]) for start, end in spans if start >= at), "")


@dataclass(frozen=True)
class _Sentence:
    """The `at`-th sentence of a passage, and where in it it stands."""

    at: int
    start: int
    end: int
    text: str
    is_row: bool

    @cached_property
    def stems(self) -> frozenset[str]:
        return stems_of(self.text)

    @cached_property
    def figures(self) -> frozenset[str]:
        return all_figures(self.text)

    @cached_property
    def counted(self) -> frozenset[tuple[str, str]]:
        return counted(self.text)


def _tidy(sentence: str) -> str:
    return str(_GAP.sub("", " ".join(sentence.split())))


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    lead = _LEAD.match(text, start, end)
    start = lead.end() if lead else start
    return start, start + len(text[start:end].rstrip(" \t\n|"))


def _nearest(passage: Quotable, stems: frozenset[str]) -> _Sentence | None:
    return max(passage.sentences, key=lambda s: closeness(stems, s.stems), default=None)


def _is_refuted(passage: Quotable, statement: str, nearest: _Sentence | None) -> bool:
    """Whether the statement has a figure that stands in no sentence about the same, the name
    of a setting that the passage has not, which are the same in every language, or one of
    the two denies or turns round what the other says."""
    if stands_in(statement, passage.text):
        return False
    stems = stems_of(statement)
    known = passage.figures_near(_nearest(passage, telling_of(stems)), stems)
    if not figures(statement) <= known or not names(statement) <= passage.names:
        return True
    if nearest is None:
        return denies(statement, "")
    in_its_words = share_of(statement, passage) >= TOGETHER_FROM
    if goes_against(statement, nearest.text, in_its_words=in_its_words):
        return True
    if is_translation(statement, passage.text, passage.language):
        return False
    if not number_words(statement) <= known or _miscounts(statement, nearest):
        return True
    swap = swap_in(statement, passage)
    return swap is not None and swap.is_other


def _miscounts(statement: str, sentence: _Sentence) -> bool:
    """Whether the statement has as many of another unit of time than the sentence."""
    units = dict(sentence.counted)
    wrong = counted(statement) - sentence.counted
    return any(figure in units for figure, _unit in wrong)


def _undecided(stems: frozenset[str], passage: Quotable, statement: str) -> Undecided | None:
    if not stems:
        return None
    if stands_in(statement, passage.text):
        return None
    if is_translation(statement, passage.text, passage.language):
        return "translation"
    if weight(stems & passage.stems) < WEAK_BELOW * weight(stems):
        return "words"
    if swap_in(statement, passage):
        return "swap"
    nearest = _nearest(passage, stems)
    is_row = nearest is not None and nearest.is_row  # which says what it says in few words
    return None if is_row or share_of(statement, passage) >= TOGETHER_FROM else "scattered"
