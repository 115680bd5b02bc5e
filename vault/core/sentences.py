"""Where a text may be cut: after sentences, at lines, at blanks, between graphemes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

import regex

Span = tuple[int, int]
CountSpan = Callable[[int, int], int]

# A full stop needs a blank after it; the marks of scripts without blanks do not.
_SENTENCE_END = re.compile(
    r"[.!?…؟۔।]+[\"'”’»)\]*_]*(?=\s)\s+|[。！？｡．]+[」』）”’\"]*\s*|[။៕។]+\s*|\n+"
)
# Thai and Lao put a blank between sentences, so a blank is the next best place everywhere.
_BLANK = re.compile(r"\s+|[，、；：,;|]\s*")
_GRAPHEME = regex.compile(r"\X")


def sentence_spans(text: str, start: int, end: int) -> Iterator[Span]:
    """Consecutive spans that end after a sentence or a line, blanks after it included."""
    return _cut(_SENTENCE_END, text, start, end)


def split_spans(text: str, start: int, end: int, *, limit: int, count: CountSpan) -> list[Span]:
    """Consecutive spans of at most `limit` tokens: sentences, and parts of those too long.

    Never inside a grapheme. `count` gives the tokens of a span.
    """
    spans: list[Span] = []
    for sentence in sentence_spans(text, start, end):
        if count(*sentence) <= limit:
            spans.append(sentence)
        else:
            spans += _split_sentence(text, sentence, limit=limit, count=count)
    return spans


def tail_start(text: str, start: int, end: int, *, limit: int, count: CountSpan) -> int:
    """Where the last `limit` tokens of a span begin: at a sentence, else a blank or grapheme.

    Gives `end` when not even one grapheme fits.
    """
    # No token of any vocabulary met so far is longer than 16 characters on average.
    window = max(start, end - limit * 16)
    if window > start:
        window = next(
            (span[0] for span in _cut(_BLANK, text, window, end) if span[0] > window), end
        )
    for spans in (sentence_spans(text, window, end), _cut(_BLANK, text, window, end)):
        begin = _fitting_tail(list(spans), end, limit=limit, count=count)
        if begin < end:
            return begin
    # Blanks are rare here, so the window may have been lost with them.
    window = max(start, end - limit * 4)
    boundaries = _boundaries(text, start, window, end)
    return _fitting_tail(list(pairwise(boundaries)), end, limit=limit, count=count)


def _fitting_tail(spans: list[Span], end: int, *, limit: int, count: CountSpan) -> int:
    begin, tokens = end, 0
    for span in reversed(spans):
        tokens += count(*span)
        if tokens > limit:
            break
        begin = span[0]
    return begin


def _cut(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[Span]:
    reached = start
    for found in pattern.finditer(text, start, end):
        if found.end() > reached and not _is_joined(text, found.end()):
            yield reached, found.end()
            reached = found.end()
    if reached < end:
        yield reached, end


def _is_joined(text: str, position: int) -> bool:
    """Whether a cut would part a mark from its letter (an accent after a blank or a stop)."""
    if position >= len(text) or text[position].isascii():
        return False
    around = _GRAPHEME.match(text, position - 1)
    return around is not None and around.end() > position


def _split_sentence(text: str, span: Span, *, limit: int, count: CountSpan) -> list[Span]:
    """Words gathered to a quarter of the limit, so that they pack well."""
    room = max(1, limit // 4)
    spans: list[Span] = []
    begin, tokens = span[0], 0
    for word in _cut(_BLANK, text, *span):
        size = count(*word)
        if tokens and tokens + size > room:
            spans.append((begin, word[0]))
            begin, tokens = word[0], 0
        if size > room:
            spans += _split_word(text, word, room=room, count=count)
            begin, tokens = word[1], 0
        else:
            tokens += size
    return [*spans, (begin, span[1])] if begin < span[1] else spans


def _split_word(text: str, span: Span, *, room: int, count: CountSpan) -> list[Span]:
    """Parts of a run without blanks, of about equal length, cut between graphemes."""
    start, end = span
    length = max(1, (end - start) * room // max(1, count(start, end)))
    spans: list[Span] = []
    while start < end:
        stop = _boundary(text, start, min(end, start + length))
        while stop < end and count(start, stop) > room and stop - start > 1:
            shorter = _boundary(text, start, start + (stop - start) // 2)
            if shorter >= stop:
                break
            stop = shorter
        spans.append((start, stop))
        start = stop
    return spans


def _boundary(text: str, start: int, near: int) -> int:
    """The last end of a grapheme at or before `near`, else the first after it."""
    if text[start : near + 1].isascii():
        return near
    position = start
    for found in _GRAPHEME.finditer(text, start):
        if found.end() > near and position > start:
            return position
        position = found.end()
        if position >= near:
            return position
    return position


def _boundaries(text: str, start: int, window: int, end: int) -> list[int]:
    """Ends of graphemes in a window; it begins at a boundary, found from before it."""
    begin = window if window == start else _boundary(text, max(start, window - 64), window)
    return [begin, *(found.end() for found in _GRAPHEME.finditer(text, begin, end))]
