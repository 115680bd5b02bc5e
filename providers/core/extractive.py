"""An answer without a model: the sentences of the passages that fit the question best."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from providers.core.function_words import folded, function_words
from providers.core.sentences import first_sentence, plain, sentences
from providers.core.types import Grounding, GroundingPassage

__all__ = ["compose_answer", "first_sentence", "pick_quotes"]

# The reader may have chosen quotes although there are models: nothing is said about those.
INTRODUCTION = (
    "These are the notes’ own words that fit the question best, without a language model."
)
NOTHING_FOUND = (
    "I found nothing in the notes that answers this. (Without a language model, only passages "
    "that share words with the question can be quoted.)"
)
_MOST_QUOTES = 5
_FEWEST_QUOTES = 2
# Share of the question's weight that the best sentence must hold, its title included.
_LEAST_COVERAGE = 0.18
# Further sentences must reach this part of the best one's score; a second one, less.
_LEAST_OF_BEST = 0.45
_LEAST_OF_BEST_FOR_SECOND = 0.3
_TITLE_WEIGHT = 0.4
_SHORT_WORD_WEIGHT = 0.25
_FUNCTION_WORD_WEIGHT = 0.05
_SHORT_WORD = 3
# A sentence that asks (a list of questions, a heading of an FAQ) holds the question's words
# and answers nothing.
_ASKING_WEIGHT = 0.2
_QUESTION_MARKS = ("?", "？", "؟")
_STEM_SHARE = 0.7
_STEM_LEAST = 4

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of a passage, and the passage it comes from."""

    passage: GroundingPassage
    text: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    passage_index: int
    position: int
    text: str
    score: float
    coverage: float


def compose_answer(grounding: Grounding) -> str:
    """Markdown: one honest line, then the quotes by note, each with its `[n]`."""
    quotes = pick_quotes(grounding)
    if not quotes:
        return NOTHING_FOUND
    lines = [INTRODUCTION]
    title: str | None = None
    for quote in quotes:
        if quote.passage.title != title:
            title = quote.passage.title
            lines.append(f"\n**{_escaped(plain(title))}**\n")
        lines.append(f"- {quote.text} [{quote.passage.number}]")
    return "\n".join(lines)


def pick_quotes(grounding: Grounding) -> list[Quote]:
    """At most five sentences, by note; none when nothing fits.

    The note with the best sentence comes first; within a note they stand as they do there.

    A sentence scores the weights of the question's words it holds: a word weighs more the
    fewer sentences of the passages hold it. Words match by their beginnings, so inflected
    forms count; scripts without spaces match by pairs of characters.
    """
    split = [sentences(passage.text) for passage in grounding.passages]
    candidates = _scored(grounding.question, grounding.passages, split)
    best = max((candidate.score for candidate in candidates), default=0.0)
    if not any(candidate.coverage >= _LEAST_COVERAGE for candidate in candidates):
        return []
    ranked = sorted(candidates, key=lambda item: (-item.score, item.passage_index, item.position))
    chosen = _distinct(ranked, best=best)
    places: dict[str, int] = {}
    for item in chosen:  # the best first
        places.setdefault(grounding.passages[item.passage_index].title, len(places))
    chosen.sort(
        key=lambda item: (
            places[grounding.passages[item.passage_index].title],
            item.passage_index,
            item.position,
        )
    )
    return [Quote(grounding.passages[item.passage_index], item.text) for item in chosen]


def terms(text: str) -> list[str]:
    """The distinct words of a text in one normal form, in order."""
    found: dict[str, None] = {}
    for word in _WORD.findall(folded(text)):
        for part in _UNSPACED.split(word):
            if part:
                found[part] = None
        for run in _UNSPACED.findall(word):
            for start in range(max(len(run) - 1, 1)):
                found[run[start : start + 2]] = None
    return list(found)


def is_same_word(one: str, other: str) -> bool:
    """Whether two words share a stem: equal, or a common beginning of at least four
    letters that is at least 70 % of the longer one."""
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    needed = max(_STEM_LEAST, math.ceil(len(longer) * _STEM_SHARE))
    return len(shorter) >= needed and shorter[:needed] == longer[:needed] and one[0].isalpha()


def _scored(
    question: str, passages: Sequence[GroundingPassage], split: list[list[str]]
) -> list[_Candidate]:
    wanted = terms(question)
    rows = [
        (index, position, text, _matched(wanted, terms(text)))
        for index, texts in enumerate(split)
        for position, text in enumerate(texts)
    ]
    titles = [_matched(wanted, terms(passage.title)) for passage in passages]
    weights = _weights(wanted, [matched for *_, matched in rows], function_words(question))
    total = sum(weights.values()) or 1.0
    candidates = []
    for index, position, text, matched in rows:
        own = sum(weights[word] for word in matched)
        title = sum(weights[word] for word in titles[index] - matched) * _TITLE_WEIGHT
        # Earlier passages were ranked higher by the search that found them.
        prior = 1.0 / (1.0 + 0.05 * index)
        score = (own + (title if own else 0.0)) * prior / (1.0 + len(text) / 1000)
        if text.rstrip('*_"»”’) ').endswith(_QUESTION_MARKS):
            score *= _ASKING_WEIGHT
        candidates.append(_Candidate(index, position, text, score, (own + title) / total))
    return [candidate for candidate in candidates if candidate.score > 0]


def _matched(wanted: list[str], present: list[str]) -> set[str]:
    exact = set(present)
    return {
        word for word in wanted if word in exact or any(is_same_word(word, it) for it in present)
    }


def _weights(
    wanted: list[str], matches: list[set[str]], function: frozenset[str]
) -> dict[str, float]:
    """How much each word of the question says: rare among the sentences = much.

    A question of nothing but function words ("Who are you?") is taken as it stands.
    """
    count = len(matches)
    light = function if any(word not in function for word in wanted) else frozenset()
    weights = {}
    for word in wanted:
        holding = sum(word in matched for matched in matches)
        weight = math.log(1.0 + (count + 1) / (holding + 0.5))
        is_short = len(word) <= _SHORT_WORD and word.isalpha() and not _UNSPACED.match(word)
        share = _SHORT_WORD_WEIGHT if is_short else 1.0
        weights[word] = weight * (_FUNCTION_WORD_WEIGHT if word in light else share)
    return weights


def _distinct(ranked: list[_Candidate], *, best: float) -> list[_Candidate]:
    chosen: list[_Candidate] = []
    seen: set[str] = set()
    for candidate in ranked:
        if len(chosen) == _MOST_QUOTES:
            break
        is_few = len(chosen) < _FEWEST_QUOTES
        if candidate.score < best * (_LEAST_OF_BEST_FOR_SECOND if is_few else _LEAST_OF_BEST):
            break
        key = " ".join(terms(candidate.text))
        if key not in seen:
            seen.add(key)
            chosen.append(candidate)
    return chosen


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", text)
