"""The piece of a passage that shows why it was found."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent

from providers.core.callouts import CALLOUT

# About two lines of the search page.
SNIPPET_LENGTH = 240
# As many of code.
CODE_LINES = 4
_LONGEST_LINE = 100
# Shorter words than this mark themselves only when whole: "in" would light up "info".
_PREFIX_FROM = 4
# A stem and its word share at least this much of the shorter one.
_SHARED = 0.75

_WORD = re.compile(r"\w+")
_SPACE = re.compile(r"\s+")
_FENCES = ("```", "~~~")
_FENCED = re.compile(r"^((?:```|~~~)[\s\S]*?(?:^(?:```|~~~)|\Z))", re.MULTILINE)
_FENCE_LINE = re.compile(r"^(```|~~~).*$", re.MULTILINE)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t].*$", re.MULTILINE)
_TABLE_ROW = re.compile(r"^[ \t]*\|[ \t]*(.*?)[ \t]*\|[ \t]*$", re.MULTILINE)
_CELL_END = re.compile(r"[ \t]*(?<!\\)\|[ \t]*")
_CALLOUT = rf"^[ \t]*>[> \t]*{CALLOUT}[ \t]*"
_MARKS = (
    # The title of a callout is no part of its first sentence.
    (re.compile(_CALLOUT + r"(?P<title>.*[^\s.:!?…。！？])[ \t]*$", re.M), r"\g<title>:"),
    (re.compile(_CALLOUT, re.M), ""),
    (
        re.compile(
            r"^[ \t>]*(#{1,6}[ \t]+|[-*+][ \t]+(\[.\][ \t]+)?|\d{1,9}[.)][ \t]+|>+[ \t]*)", re.M
        ),
        "",
    ),
    (re.compile(r"^[ \t]*\|?[ \t]*:?-{3,}[-| \t:]*$", re.M), ""),
    (re.compile(r"!?\[\[(?:[^\[\]\n|]*\|)?([^\[\]\n|]*)\]\]"), r"\1"),
    (re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*\)"), r"\1"),
    (re.compile(r"(?<!\w)(\*{1,3}|~~|==)(\S|\S.*?\S)\1(?!\w)"), r"\2"),
    (re.compile(r"`([^`\n]+)`"), r"\1"),
)


@dataclass(frozen=True, slots=True)
class Snippet:
    """Plain text and the ranges in it that matched, ordered and apart."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def make_snippet(content: str, terms: Sequence[str], *, length: int = SNIPPET_LENGTH) -> Snippet:
    """The stretch of `content` with most of `terms`, at most `length` characters.

    Markdown's marks are left out, and headings where there is more than headings. White
    space is squeezed; an ellipsis stands where text was left out and counts. Words match
    whole, by their first letters when the stem is the same, without case and accents.
    """
    text = plain_text(content)
    marks = _find(text, terms)
    start, end = _window(text, marks, length - 2)
    head = "…" if start else ""
    tail = "…" if end < len(text) else ""
    shift = len(head) - start
    inside = tuple((a + shift, b + shift) for a, b in marks if a >= start and b <= end)
    return Snippet(head + text[start:end] + tail, inside)


def code_snippet(content: str, terms: Sequence[str], *, lines: int = CODE_LINES) -> Snippet:
    """The `lines` lines of code with most of `terms`, without the indent that all have.

    Lines of blanks alone are left out; a long line is cut, with an ellipsis.
    """
    told = [line.rstrip() for line in content.expandtabs(4).splitlines() if line.strip()]
    held = [len(each) for each in terms_by_sentence(told, terms)]
    starts = range(max(1, len(told) - lines + 1))
    first = max(starts, key=lambda start: (sum(held[start : start + lines]), -start))
    shown = dedent("\n".join(told[first : first + lines])).splitlines()
    text = "\n".join(
        line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…" for line in shown
    )
    return Snippet(text, tuple(_find(text, terms)))


def plain_text(markdown: str) -> str:
    """A passage in one line, as it reads: no headings, link targets or marks of emphasis.

    Cheap and forgiving, for a few hundred characters of any text; a passage that has
    nothing else keeps its headings.
    """
    parts = _FENCED.split(markdown)
    without = [part if part[:3] in _FENCES else _HEADING.sub("", part) for part in parts]
    kept = without if "".join(without).strip() else parts
    return _SPACE.sub(" ", "".join(map(_without_marks, kept))).strip()


def _without_marks(part: str) -> str:
    if part[:3] in _FENCES:
        # Code stays as it is: `# …` is a comment there.
        return _FENCE_LINE.sub("", part)
    for pattern, kept in _MARKS:
        part = pattern.sub(kept, part)
    return _TABLE_ROW.sub(lambda row: _CELL_END.sub(" · ", row[1]), part)


def terms_by_sentence(sentences: Sequence[str], terms: Sequence[str]) -> list[set[str]]:
    """For each sentence the words of `terms`, folded, that stand in it."""
    wanted = _wanted(terms)
    known: dict[str, set[str]] = {}
    found = []
    for sentence in sentences:
        held = {term for term in wanted if not _spaced(term) and term in sentence}
        for word in map(_fold, _WORD.findall(sentence)):
            if word not in known:
                known[word] = {term for term in wanted if _matches(word, {term})}
            held |= known[word]
        found.append(held)
    return found


def _wanted(terms: Sequence[str]) -> set[str]:
    return {folded for term in terms for folded in map(_fold, _WORD.findall(term)) if folded}


def _find(text: str, terms: Sequence[str]) -> list[tuple[int, int]]:
    """Ranges of `text` that a term names; touching ranges become one."""
    wanted = _wanted(terms)
    ranges = [
        match.span() for match in _WORD.finditer(text) if _matches(_fold(match.group()), wanted)
    ]
    ranges += [span for word in wanted if not _spaced(word) for span in _occurrences(text, word)]
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _matches(word: str, wanted: set[str]) -> bool:
    if word in wanted:
        return True
    return any(_same_stem(word, other) for other in wanted)


def _same_stem(word: str, other: str) -> bool:
    shorter = min(len(word), len(other))
    if shorter < _PREFIX_FROM or max(len(word), len(other)) > shorter + _PREFIX_FROM:
        return False
    shared = max(_PREFIX_FROM, round(shorter * _SHARED))
    return word[:shared] == other[:shared]


def _spaced(word: str) -> bool:
    """Whether the script of `word` puts spaces between words."""
    return not any(_is_unspaced(letter) for letter in word)


def _is_unspaced(letter: str) -> bool:
    point = ord(letter)
    return 0x0E00 <= point <= 0x0EFF or 0x3040 <= point <= 0x9FFF or 0xAC00 <= point <= 0xD7AF


def _occurrences(text: str, word: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(re.escape(word), text)]


def _fold(word: str) -> str:
    """Without case, and without accents on Latin letters; й, ガ and ё stay what they are."""
    kept: list[str] = []
    for letter in unicodedata.normalize("NFD", word.casefold()):
        if unicodedata.combining(letter) and kept and kept[-1].isascii():
            continue
        kept.append(letter)
    return unicodedata.normalize("NFC", "".join(kept))


def _window(text: str, marks: Sequence[tuple[int, int]], length: int) -> tuple[int, int]:
    """Start and end of the stretch with most marks, cut between words where possible."""
    if len(text) <= length + 2:
        return 0, len(text)
    best = max(
        (start for start, _ in marks),
        key=lambda start: (sum(start <= a and b <= start + length for a, b in marks), -start),
        default=0,
    )
    # A little of what stands before the first mark, so that it can be read.
    start = _word_start(text, max(0, min(best - length // 6, len(text) - length)))
    end = min(len(text), start + length)
    if end < len(text):
        space = text.rfind(" ", start + length // 2, end)
        end = space if space > 0 and not any(a < end and space < b for a, b in marks) else end
    return start, end


def _word_start(text: str, position: int) -> int:
    if position == 0 or text[position - 1] == " ":
        return position
    space = text.find(" ", position, position + 30)
    return position if space < 0 else space + 1
