"""Citations: marks like [2] in an answer, and the sentence of a passage that bears them out.

Support is judged by shared words, by the figures a statement has and by denials that only
one side makes: weak is a hint for the reader's own look, no verdict. How well it does is
measured by benchmarks/citations.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import regex

from vault.core.language import common_words, is_latin, text_config

# [2] [1, 2] [1-3] [^1] [[1]] and the same in full-width brackets, digits and commas; the
# tail of 【1†source】 is what some models add. At most four digits: 20 digits are no number
# of a passage. A minus sign or a dot inside leaves the text alone: [-1], [1.2].
_NUMBER = r"[0-9０-９]{1,4}"
_ITEM = rf"{_NUMBER}(?:\s*[-–—~～]\s*{_NUMBER})?"
_MARKER = regex.compile(
    rf"(?:\[\[|[\[【［])\s*\^?({_ITEM}(?:\s*[,，、;；]\s*{_ITEM})*)\s*(?:†[^\]】］\[【［\n]{{0,40}})?"
    r"(?:\]\]|[\]】］])"
)
_MARKER_WITH_SPACE = regex.compile(r"[ \t]*" + _MARKER.pattern)
_DIGITS = regex.compile(_NUMBER)
_RANGE = regex.compile(r"[-–—~～]")
_COMMA = regex.compile(r"[,，、;；]")
_SENTENCE_END = regex.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s|$)|[。！？]+[”’」』）]*|\n+")
_LEAD = regex.compile(r"\s*(?:#{1,6}\s+|>\s?|[-*+]\s+(?:\[[ xX]\]\s+)?|\d+[.)]\s+|\|\s*)*")
_GAP = regex.compile(r"\s+(?=[.,;:!?。！？、，；：])")
_WORD = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]|[\p{L}\p{M}\p{N}]+", regex.V1
)
# Words are compared by their first letters: enough to join "repair" and "repaired".
STEM = 5
# Below this share of a sentence's words in its passage the support counts as weak.
WEAK_BELOW = 0.5
_NAME = regex.compile(r"\w*[\p{L}\p{N}]_[\p{L}\p{N}]\w*")
_FIGURE = regex.compile(r"\d+")
_THOUSANDS = regex.compile(r"(?<=\d)[,.\u00a0\u202f ](?=\d{3}(?!\d))")
# Words that turn a statement round, in the languages that the index knows best.
_DENIED = """
not no never none cannot without nicht kein keine keinen keiner nie niemals ohne
не нет нельзя никогда без ні немає ніколи ne pas jamais aucun aucune sans
"""
_DENIALS = frozenset(_DENIED.split())
LONGEST_QUOTE = 400
# A longer run of digits is a name, not a figure.
MOST_FIGURE = 19
# A turn has at most 30 passages: a longer number in brackets is a year or a reference.
MOST_DIGITS = 2


@dataclass(frozen=True, slots=True)
class Marker:
    """A mark in a text and the existing passages it names, in order.

    No numbers: the mark was invented, it names no passage of the turn.
    """

    start: int
    end: int
    numbers: tuple[int, ...]


def find_markers(text: str, *, exists: Callable[[int], bool]) -> list[Marker]:
    """The marks in `text`; those that name no passage that exists have no numbers.

    A range counts only when all of it exists. A bracket after a word (`row[7]`) or with a
    longer number ([2024]) that names no passage is text, not a mark.
    """
    found = []
    for match in _MARKER.finditer(text):
        numbers = _numbers(match[1], exists)
        if numbers:
            found.append(Marker(match.start(), match.end(), numbers))
        elif _looks_invented(text, match):
            start = len(text[: match.start()].rstrip(" \t"))
            found.append(Marker(start, match.end(), ()))
    return found


def without_markers(text: str) -> str:
    """`text` less every citation mark, whatever number it names."""
    return str(_MARKER_WITH_SPACE.sub("", text))


def is_marker(text: str) -> bool:
    """Whether `text`, in brackets, would be a mark."""
    return _MARKER.fullmatch(f"[{text}]") is not None


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

    @cached_property
    def sentences(self) -> tuple[_Sentence, ...]:
        return tuple(
            _Sentence(start, end, _stems(self.text[start:end]))
            for start, end in sentence_spans(self.text)
        )

    @cached_property
    def language(self) -> str:
        return text_config(self.text)

    @cached_property
    def figures(self) -> frozenset[int]:
        return figures(self.text)

    @cached_property
    def names(self) -> frozenset[str]:
        return names(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        return frozenset(_stems(self.text))


@dataclass(frozen=True, slots=True)
class Quote:
    """The sentence of a note that bears out a statement: characters of the note's body."""

    start: int
    end: int
    text: str
    weak: bool


@dataclass(frozen=True, slots=True)
class Citation:
    """A statement of an answer, the passage it cites and the quote that bears it out."""

    number: int
    sentence: str
    quote: Quote
    url: str
    headings: tuple[str, ...] = ()

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


def cite(passage: Quotable, sentence: str) -> Citation:
    """The citation of `passage` for a statement."""
    quote = find_quote(passage, sentence)
    headings = passage.headings_at(quote.start)
    return Citation(passage.number, sentence, quote, passage.url(quote), headings)


def find_quote(passage: Quotable, statement: str) -> Quote:
    """The sentence of the passage that shares most with `statement`.

    The whole passage when nothing is shared, or when its text is not letter by letter
    what stands in the note.
    """
    stems = _stems(statement)
    best = max(passage.sentences, key=lambda s: _closeness(stems, s.stems), default=None)
    nearest = passage.text[best.start : best.end] if best else ""
    weak = _is_weak(stems, passage, statement) or _denies(statement, nearest)
    is_exact = len(passage.text) == passage.end - passage.start
    if best is None or not is_exact or not stems & best.stems:
        return Quote(passage.start, passage.end, passage.whole.text, weak=weak)
    end = min(best.end, best.start + LONGEST_QUOTE)
    text = passage.text[best.start : end]
    return Quote(passage.start + best.start, passage.start + end, text, weak=weak)


def share_of(statement: str, passage: Quotable) -> float:
    """The share, by weight, of the words of `statement` that one sentence of the passage has."""
    stems = _stems(statement)
    shared = (_weight(stems & sentence.stems) for sentence in passage.sentences)
    return max(shared, default=0.0) / (_weight(stems) or 1)


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


@dataclass(frozen=True, slots=True)
class _Sentence:
    start: int
    end: int
    stems: frozenset[str]


def _looks_invented(text: str, match: regex.Match[str]) -> bool:
    follows_a_word = match.start() > 0 and text[match.start() - 1].isalnum()
    digits = _DIGITS.findall(match[1])
    return not follows_a_word and all(len(number) <= MOST_DIGITS for number in digits)


def _numbers(items: str, exists: Callable[[int], bool]) -> tuple[int, ...]:
    numbers: list[int] = []
    for item in _COMMA.split(items):
        ends = [int(part) for part in _RANGE.split(item.strip())]
        named = range(ends[0], ends[-1] + 1)
        if named and len(named) <= 1 + 30 and all(exists(number) for number in named):
            numbers.extend(named)
    return tuple(dict.fromkeys(numbers))


def _tidy(sentence: str) -> str:
    return str(_GAP.sub("", " ".join(sentence.split())))


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    lead = _LEAD.match(text, start, end)
    start = lead.end() if lead else start
    return start, start + len(text[start:end].rstrip(" \t\n|"))


def _stems(text: str) -> frozenset[str]:
    """Words by their first letters; one letter alone says nothing, a digit does."""
    words = (match[0].casefold() for match in _WORD.finditer(text))
    return frozenset(w[:STEM] for w in words if len(w) > 1 or not w.isascii() or w.isdigit())


def _weight(stems: frozenset[str]) -> float:
    """Long words and numbers tell more than short words."""
    return sum(STEM if any(c.isdigit() for c in stem) else len(stem) for stem in stems)


def _closeness(statement: frozenset[str], sentence: frozenset[str]) -> tuple[float, float]:
    shared = _weight(statement & sentence)
    return shared, shared / (_weight(sentence) or 1)


def _is_weak(stems: frozenset[str], passage: Quotable, statement: str) -> bool:
    if not figures(statement) <= passage.figures:
        return True  # a figure is the same in every language
    if not names(statement) <= passage.names:
        return True  # and so is the name of a setting
    if not stems or _is_translation(statement, passage):
        return False
    return _weight(stems & passage.stems) < WEAK_BELOW * _weight(stems)


def _is_translation(statement: str, passage: Quotable) -> bool:
    """Whether the statement is in another language than the passage.

    A sentence has few words that tell its language: two more of another one are asked for.
    """
    if is_latin(statement) != is_latin(passage.text):
        return True
    spoken = text_config(statement)
    if "simple" in {spoken, passage.language} or spoken == passage.language:
        return False
    own = common_words(statement, passage.language)
    return common_words(statement, spoken) >= own + 2


def figures(text: str) -> frozenset[int]:
    """The whole numbers in `text`, however they are grouped or padded."""
    plain = _THOUSANDS.sub("", text)
    return frozenset(
        int(match[0]) for match in _FIGURE.finditer(plain) if len(match[0]) < MOST_FIGURE
    )


def names(text: str) -> frozenset[str]:
    """Identifiers in `text`, such as QUEUE_LIMIT."""
    return frozenset(match[0].casefold() for match in _NAME.finditer(text))


def _denies(statement: str, sentence: str) -> bool:
    """Whether one of the two says what the other denies, being about the same words."""
    words, others = _words(statement), _words(sentence)
    return bool(words & _DENIALS) != bool(others & _DENIALS) and bool(words & others)


def _words(text: str) -> frozenset[str]:
    return frozenset(match[0].casefold() for match in _WORD.finditer(text))
