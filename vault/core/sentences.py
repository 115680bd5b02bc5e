"""Where a text may be cut: after sentences, at lines, at blanks, between graphemes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

import regex

Span = tuple[int, int]
CountSpan = Callable[[int, int], int]

# A full stop needs a blank after it; the marks of scripts without blanks do not. A row of
# them is looked at once, not once from each.
_SENTENCE_END = re.compile(
    r"(?<![.!?…؟۔।])[.!?…؟۔।]++[\"'”’»)\]*_]*+\s+|[。！？｡．]+[」』）”’\"]*\s*|[။៕។]+\s*|\n+"
)
# Thai and Lao put a blank between sentences, so a blank is the next best place everywhere.
_BLANK = re.compile(r"\s+|[，、；：,;|]\s*")
# Characters a token has at most, on average over a text; blanks may have more.
_LONGEST_TOKEN = 16
_LONGEST_GRAPHEME = 64
_GRAPHEME = regex.compile(r"\X")


def sentence_spans(text: str, start: int, end: int) -> Iterator[Span]:
    """Consecutive spans that end after a sentence or a line, blanks after it included."""
    return _cut(_SENTENCE_END, text, start, end)


def split_spans(
    text: str, start: int, end: int, *, limit: int, count: CountSpan
) -> Iterator[tuple[int, int, int]]:
    """Consecutive spans of at most `limit` tokens, with their tokens.

    Sentences, and parts of those too long, of about a quarter of the limit, so that they
    pack well. Never inside a grapheme. `count` gives the tokens of a span.
    """
    for begin, stop in sentence_spans(text, start, end):
        # The start of a very long line tells enough about the rest of it.
        sampled = min(stop, begin + limit * _LONGEST_TOKEN)
        tokens = count(begin, sampled)
        if sampled == stop and tokens <= limit:
            yield begin, stop, tokens
        else:
            rate = max(1, tokens) / (sampled - begin)
            yield from _parts(text, (begin, stop), rate=rate, limit=limit // 4, count=count)


def tail_start(text: str, start: int, end: int, *, limit: int, count: CountSpan) -> int:
    """Where the last `limit` tokens of a span begin: at a sentence, else a blank or grapheme.

    Gives `end` when not even one grapheme fits.
    """
    window = max(start, end - limit * _LONGEST_TOKEN)
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
    around = _GRAPHEME.match(text, position - 1, position + 1)
    return around is not None and around.end() > position


def _parts(
    text: str, span: Span, *, rate: float, limit: int, count: CountSpan
) -> Iterator[tuple[int, int, int]]:
    """Parts of a sentence cut after blanks, else between graphemes. One count a part, mostly:
    counting each word of a line of 5 MB takes minutes."""
    start, end = span
    length = max(1, int(limit / rate))
    while start < end:
        stop = end if end - start <= length else _cut_near(text, start, start + length)
        size = count(start, stop)
        while size > limit and stop - start > 1:
            shorter = _cut_near(text, start, start + (stop - start) * 2 // 3)
            if shorter >= stop:
                break
            stop = shorter
            size = count(start, stop)
        yield start, stop, size
        start = stop


def _cut_near(text: str, start: int, near: int) -> int:
    """After the last blank in the second half before `near`, else at a grapheme's end."""
    blanks = [found.end() for found in _BLANK.finditer(text, start + (near - start) // 2, near)]
    for stop in reversed(blanks):
        if stop > start and not _is_joined(text, stop):
            return stop
    return _boundary(text, start, near)


def _boundary(text: str, start: int, near: int) -> int:
    """The last end of a grapheme at or before `near`, else the first after it."""
    if text[start : near + 1].isascii():
        return near
    position = start
    for found in _GRAPHEME.finditer(text, start, near + _LONGEST_GRAPHEME + 1):
        if found.end() > near and position > start:
            return position
        if found.end() - position > _LONGEST_GRAPHEME:
            # No letter has so many marks: such a heap is noise, and may be endless.
            return max(near, position + 1)
        position = found.end()
        if position >= near:
            return position
    return position


def _boundaries(text: str, start: int, window: int, end: int) -> list[int]:
    """Ends of graphemes in a window; it begins at a boundary, found from before it."""
    begin = window if window == start else _boundary(text, max(start, window - 64), window)
    return [begin, *(found.end() for found in _GRAPHEME.finditer(text, begin, end))]
