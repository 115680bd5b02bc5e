"""Which sentences of the passages answer a question best."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from providers.core.cues import fitness_for, points_back
from providers.core.function_words import folded, function_words
from providers.core.sentences import Kind, Sentence, plain, split
from providers.core.types import Grounding, GroundingPassage

_MOST_QUOTES = 4
# Share of the question's weight that the best sentence must hold, its headings included.
_LEAST_COVERAGE = 0.18
# How near by meaning a sentence must be to be quoted although it shares no words with the
# question, and where nearness begins to count at all: cosines of the bundled embedder. Of
# questions about other things than the handbook the nearest sentences reach 0.08 to 0.19;
# sentences that answer, 0.22 to 0.68.
_NEAR_ENOUGH = 0.28
_NOT_NEAR = 0.1
# Further sentences must reach this part of the best one's score.
_LEAST_OF_BEST = 0.55
_HEADING_WEIGHT = 0.4
_ASKING_HEADING_WEIGHT = 0.8
_BEFORE_WEIGHT = 0.7
# Share of the question's weight that makes a heading its answer's.
_LEAST_OF_A_HEADING = 0.4
_SHORT_WORD_WEIGHT = 0.25
_FUNCTION_WORD_WEIGHT = 0.05
_SHORT_WORD = 3
_QUESTION_MARKS = ("?", "？", "؟")
_STEM_SHARE = 0.7
_STEM_LEAST = 4
_KIND_WEIGHT = {
    Kind.PROSE: 1.0,
    Kind.ITEM: 1.0,
    Kind.ROW: 0.9,
    Kind.CODE: 0.6,
    Kind.POINTER: 0.3,
}
_LONG = 320  # characters
_FEWEST_TERMS = 2
# So many sentences are compared by meaning (30 ms each on one core): the best by words, and
# of the passages that search put first one each, which may share no word with the question.
_BEST_BY_WORDS = 9
_BEST_PASSAGES = 3

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_LABEL_ENDS = (":", "：")
_LABELLED = re.compile(r"[:：]|\s[–—-]\s")


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a passage, and the passage they come from."""

    passage: GroundingPassage
    text: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may answer. `first` is where its quote begins: at the sentence itself,
    or before, at the one that it points back to. `block` is the paragraph or line of both."""

    passage: int
    block: int
    first: int
    position: int
    text: str
    score: float
    coverage: float


def candidates_for(grounding: Grounding) -> list[Candidate]:
    """Every sentence that says something, the best first by the question's words.

    A sentence scores the weights of the question's words that it holds: a word weighs more
    the fewer sentences hold it. The headings above it count less, and so does the sentence
    before where it points back to that, or that asks what this one answers. Words match by
    their beginnings, so inflected forms count; scripts without spaces match by pairs of
    characters. What looks like what was asked for (a number for how many) counts more.
    """
    told = [split(passage.text) for passage in grounding.passages]
    measured = _Measure.of(grounding, told)
    found = [
        measured.candidate(index, position)
        for index, sentences in enumerate(told)
        for position, sentence in enumerate(sentences)
        if _says_something(sentence)
    ]
    return sorted(found, key=lambda each: (-each.score, each.passage, each.position))


def shortlist(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that are worth comparing by meaning, in their order."""
    kept = list(candidates[:_BEST_BY_WORDS])
    for passage in range(_BEST_PASSAGES):
        others = (each for each in candidates[_BEST_BY_WORDS:] if each.passage == passage)
        kept += list(others)[:1]
    return kept


def nearer(candidates: Sequence[Candidate], nearness: Sequence[float]) -> list[Candidate]:
    """`candidates` in a new order: half by words, half by `nearness`, their cosines with the
    question. What is near enough needs to share no word with it."""
    best = max((each.score for each in candidates), default=0.0) or 1.0
    mixed = []
    for each, cosine in zip(candidates, nearness, strict=True):
        meaning = max(cosine - _NOT_NEAR, 0.0) / (1.0 - _NOT_NEAR)
        coverage = 1.0 if cosine >= _NEAR_ENOUGH else each.coverage
        mixed.append(replace(each, score=each.score / best / 2 + meaning, coverage=coverage))
    return sorted(mixed, key=lambda each: (-each.score, each.passage, each.position))


def pick_quotes(grounding: Grounding, candidates: Sequence[Candidate]) -> list[Quote]:
    """At most four quotes of `candidates`, which stand best first; none when nothing fits.

    They stand by note, the best first. Sentences of a paragraph that follow each other are
    one quote.
    """
    if not any(each.coverage >= _LEAST_COVERAGE for each in candidates):
        return []
    runs: list[list[Candidate]] = []
    for each in _distinct(candidates):
        run = next((run for run in runs if any(_touch(each, other) for other in run)), None)
        if run is None:
            runs.append([each])
        else:
            run.append(each)
    quotes = [_quote(grounding, run) for run in runs]
    titles = list(dict.fromkeys(quote.passage.title for quote in quotes))
    return sorted(quotes, key=lambda quote: titles.index(quote.passage.title))


def _touch(one: Candidate, other: Candidate) -> bool:
    is_near = one.first <= other.position + 1 and other.first <= one.position + 1
    return (one.passage, one.block) == (other.passage, other.block) and is_near


def _quote(grounding: Grounding, run: Sequence[Candidate]) -> Quote:
    passage = grounding.passages[run[0].passage]
    sentences = split(passage.text)
    places = sorted({at for each in run for at in range(each.first, each.position + 1)})
    return Quote(passage, _spaced([sentences[at].text for at in places]))


def _spaced(texts: Sequence[str]) -> str:
    joined = texts[0]
    for text in texts[1:]:
        joined += text if _UNSPACED.match(text[:1]) else f" {text}"
    return joined


@dataclass(frozen=True, slots=True)
class _Measure:
    """The words of a question, what each weighs, and which sentence holds which."""

    told: list[list[Sentence]]
    weights: dict[str, float]
    held: list[list[frozenset[str]]]
    above: list[list[dict[str, float]]]
    paths: list[tuple[str, ...]]
    fitness: list[list[float]]

    @classmethod
    def of(cls, grounding: Grounding, told: list[list[Sentence]]) -> _Measure:
        wanted = terms(grounding.question)
        held = [[_matched(wanted, terms(each.text)) for each in passage] for passage in told]
        fitness = fitness_for(grounding.question)
        everything = [words for passage in held for words in passage]
        return cls(
            told,
            _weights(wanted, everything, function_words(grounding.question)),
            held,
            [
                [_above(wanted, passage, each) for each in sentences]
                for passage, sentences in zip(grounding.passages, told, strict=True)
            ],
            [(passage.title, *passage.headings) for passage in grounding.passages],
            [[fitness(each.text) for each in sentences] for sentences in told],
        )

    def candidate(self, index: int, position: int) -> Candidate:
        sentence = self.told[index][position]
        first = self._begins(index, position)
        shares = dict.fromkeys(self.held[index][position], 1.0)
        if first < position:
            for word in self.held[index][first]:
                shares.setdefault(word, _BEFORE_WEIGHT)
        own = bool(shares) or self._stands_under_the_question(index, position)
        for word, share in self.above[index][position].items():
            shares.setdefault(word, share)
        said = sum(self.weights[word] * share for word, share in shares.items())
        total = sum(self.weights.values()) or 1.0
        score = said * _KIND_WEIGHT[sentence.kind] * self.fitness[index][position]
        # Earlier passages were ranked higher by the search that found them.
        score /= (1.0 + 0.05 * index) * (1.0 + max(len(sentence.text) - _LONG, 0) / 600)
        coverage = said / total if own else 0.0
        score = score if own else score / 4
        return Candidate(index, sentence.block, first, position, sentence.text, score, coverage)

    def _stands_under_the_question(self, index: int, position: int) -> bool:
        """Whether the heading right above says so much of the question that a sentence under
        it needs to share no word with that: an instruction seldom repeats its heading."""
        nearest = (*self.paths[index], *self.told[index][position].headings)[-1]
        said = sum(self.weights[word] for word in _matched(list(self.weights), terms(nearest)))
        return said >= _LEAST_OF_A_HEADING * sum(self.weights.values())

    def _begins(self, index: int, position: int) -> int:
        """Where the quote of a sentence begins."""
        if position == 0:
            return 0
        sentence, before = self.told[index][position], self.told[index][position - 1]
        is_one = sentence.block == before.block and sentence.kind in {Kind.PROSE, Kind.ITEM}
        return position - (is_one and (_asks(before.text) or points_back(sentence.text)))


def _above(wanted: list[str], passage: GroundingPassage, sentence: Sentence) -> dict[str, float]:
    """The question's words in the headings over a sentence, and what each counts there."""
    found: dict[str, float] = {}
    for heading in {passage.title, *passage.headings, *sentence.headings}:
        share = _ASKING_HEADING_WEIGHT if _asks(heading) else _HEADING_WEIGHT
        for word in _matched(wanted, terms(heading)):
            found[word] = max(found.get(word, 0.0), share)
    return found


def _says_something(sentence: Sentence) -> bool:
    """No bare question, no label without its text, no tags or links alone."""
    text = sentence.text.rstrip('*_"»”’)` ')
    if text.endswith((*_QUESTION_MARKS, *_LABEL_ENDS)):
        return False
    is_list_of_pointers = sentence.kind is Kind.POINTER and not _LABELLED.search(text)
    return not is_list_of_pointers and len(terms(plain(text))) >= _FEWEST_TERMS


def _asks(text: str) -> bool:
    return text.rstrip('*_"»”’)` ').endswith(_QUESTION_MARKS)


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


def _matched(wanted: list[str], present: list[str]) -> frozenset[str]:
    exact = set(present)
    return frozenset(
        word for word in wanted if word in exact or any(is_same_word(word, it) for it in present)
    )


def _weights(
    wanted: list[str], matches: list[frozenset[str]], function: frozenset[str]
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


def _distinct(ranked: Sequence[Candidate]) -> list[Candidate]:
    """The best, and those that come near it; equal sentences once."""
    chosen: list[Candidate] = []
    seen: set[str] = set()
    for candidate in ranked:
        if len(chosen) == _MOST_QUOTES or candidate.score < ranked[0].score * _LEAST_OF_BEST:
            break
        key = " ".join(terms(candidate.text))
        if key not in seen:
            seen.add(key)
            chosen.append(candidate)
    return chosen
