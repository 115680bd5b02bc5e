"""Secrets that only a label gives away: `password: …`, "the password is …", table cells."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from vault.core import secret_shapes as shapes
from vault.core.secret_shapes import LabelWord
from vault.core.secret_spans import Span

SHORTEST_PASSWORD = 6
SHORTEST_KEY = 8
SHORTEST_BESIDE = 8
LONGEST_VALUE = 400
LONGEST_LABEL_CELL = 48
# How far behind "the password is" a value may stand: "is now", "is still set to".
WORDS_AFTER_VERB = 4

_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "„": "“”", "«": "»", "「": "」", "”": "”"}
_WORD = re.compile(r"[^\s⟦⟧|]{1,400}")
_BESIDE = re.compile(r"[ \t]{1,3}[\"'`*_]{0,3}")
_GAP = re.compile(r"[ \t*_:]{0,6}")
_TAG = re.compile(r"</?[A-Za-z!]")
_TRAILING = ".,;:)]}>\"'`*_”»」。、"
_COMMAND_OPTION = re.compile(
    r"(?<!\S)--?(?:password|passwd|pass|token|api-key|apikey|secret)[ \t]"
    r"[\"']?(?P<value>[^\s\"'⟦⟧|<]{4,400})"
)
_TABLE_RULE = re.compile(r"^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*$")
_SYMBOLS = frozenset("!@#$%^&*+=?~")


@dataclass(frozen=True, slots=True)
class _Label:
    """What a label promises, and how sure the place of its value is."""

    kind: str
    is_password: bool
    # The value stands right behind a sign, not somewhere behind a verb or a remark.
    is_tight: bool = True
    is_program: bool = False
    # "is `value`": a quoted word right behind the verb.
    is_said: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """A label word in the text."""

    start: int
    end: int
    word: LabelWord


def find_labelled(text: str) -> Iterator[Span]:
    """Values behind labels, in running text, assignments, options and tables."""
    places = _label_places(text)
    if not places:
        return
    for place in places:
        span = _value_behind(text, place)
        if span is not None:
            yield span
    for match in _COMMAND_OPTION.finditer(text):
        label = _Label("password", is_password=True, is_program=True)
        if _looks_secret(match["value"], label, is_quoted=False):
            yield Span(*match.span("value"), "password")
    if "|" in text:
        yield from _in_tables(text, places)


def _label_places(text: str) -> list[_Place]:
    """Every label in order; of those that overlap the longest.

    A hundred searches for a literal are thirty times faster than one for any of them.
    """
    folded = text.lower()
    if len(folded) != len(text):
        folded = "".join(low if len(low := sign.lower()) == 1 else sign for sign in text)
    found: list[_Place] = []
    for word in shapes.LABEL_WORDS:
        start = folded.find(word.word)
        while start >= 0:
            end = start + len(word.word)
            if not word.is_short or _stands_alone(text, start, end):
                found.append(_Place(start, end, word))
            start = folded.find(word.word, end)
    places: list[_Place] = []
    for place in sorted(found, key=lambda place: (place.start, -place.end)):
        if not places or place.start >= places[-1].end:
            places.append(place)
    return _outside_logins(text, places)


def _outside_logins(text: str, places: list[_Place]) -> list[_Place]:
    """Without those that are the login of an address: `://user:password@host:5432/name`."""
    logins = [match.span() for match in shapes.URL_LOGIN.finditer(text)] if "://" in text else []
    if not logins:
        return places
    starts = [start for start, _end in logins]

    def is_login(place: _Place) -> bool:
        before = bisect_left(starts, place.start)
        return before > 0 and place.end <= logins[before - 1][1]

    return [place for place in places if not is_login(place)]


def _stands_alone(text: str, start: int, end: int) -> bool:
    """`token`, `api_token`, `userToken`, but not `tokens` or `bypass`."""
    before, first, after = text[start - 1 : start], text[start], text[end : end + 1]
    is_hump = before.islower() and first.isupper()
    return (not before.isalnum() or is_hump) and not after.islower()


def looks_random(value: str, *, minimum: int) -> bool:
    """Letters and digits mixed, or cases mixed as no word mixes them."""
    if len(value) < minimum or shapes.HYPHENATED_PROSE.search(value):
        return False
    has_letter = any(letter.isalpha() for letter in value)
    has_digit = any(letter.isdigit() for letter in value)
    if has_letter and has_digit:
        return len(set(value)) > 3
    turns = sum(a.islower() != b.islower() for a, b in pairwise(value))
    return has_letter and len(value) >= 20 and turns >= 8 and "-" not in value


def _value_behind(text: str, place: _Place) -> Span | None:
    if place.start and text[place.start - 1] in "⟦/":
        return None
    separator = shapes.SEPARATOR.match(text, place.end)
    if separator is None:
        return _value_beside(text, place)
    has_remark = bool(separator["remark"].strip())
    if place.word.is_short and place.word.is_password and (has_remark or separator["verb"]):
        return None  # "pass the option as x=1"
    gap = shapes.BREAK.match(text, separator.end())
    position = gap.end() if gap else separator.end()
    suffix = separator["suffix"]
    if suffix and shapes.OTHER_SUBJECT.search(suffix):
        return None
    is_below = bool(gap and gap["newline"])
    label = _Label(
        kind=place.word.kind,
        is_password=place.word.is_password,
        is_tight=not (suffix or has_remark or is_below or separator["verb"]),
        is_program="=" in (separator["sign"] or ""),
    )
    if separator["verb"] is not None:
        return _value_in_prose(text, position, label)
    return _value_at(text, position, label) or _weak_line(text, place.start, position, label)


def _value_beside(text: str, place: _Place) -> Span | None:
    """The next word where nothing stands between ("with password fX3$kq9!w"), if it can be
    nothing else: of three sorts of characters at least."""
    if place.word.is_short or not place.word.is_password:
        return None  # "pass commit=False"
    gap = _BESIDE.match(text, place.end)
    word = _word_at(text, gap.end()) if gap else None
    if gap is None or word is None or len(word) < SHORTEST_BESIDE:
        return None
    sorts = (
        any(sign.islower() for sign in word),
        any(sign.isupper() for sign in word),
        any(sign.isdigit() for sign in word),
        any(sign in _SYMBOLS for sign in word),
    )
    label = _Label(place.word.kind, is_password=True, is_tight=False, is_program=True)
    if sum(sorts) < 3 or not _looks_secret(word, label, is_quoted=False):
        return None
    return Span(gap.end(), gap.end() + len(word), label.kind)


def _value_at(text: str, position: int, label: _Label) -> Span | None:
    closing = _QUOTES.get(text[position : position + 1])
    if closing is not None:
        start = position + 1
        line_end = text.find("\n", start, start + LONGEST_VALUE)
        stop = line_end if line_end >= 0 else min(len(text), start + LONGEST_VALUE)
        ends = [place for sign in closing if (place := text.find(sign, start, stop)) >= 0]
        value = text[start : min(ends)] if ends else ""
        if "⟦" not in value and _looks_secret(value, label, is_quoted=True):
            return Span(start, start + len(value), label.kind)
        if ends:
            return None
        position = start
    word = _word_at(text, position)
    if word is None or not _looks_secret(word, label, is_quoted=False):
        return None
    return Span(position, position + len(word), label.kind)


def _word_at(text: str, position: int) -> str | None:
    match = _WORD.match(text, position)
    if match is None:
        return None
    word = match.group()
    tag = _TAG.search(word)
    word = word[: tag.start()] if tag and tag.start() else word
    return word.rstrip(_TRAILING)


def _value_in_prose(text: str, position: int, label: _Label) -> Span | None:
    """The first word behind "the password is" that reads like a secret."""
    for count in range(WORDS_AFTER_VERB if label.is_password else 2):
        gap = _GAP.match(text, position)
        position = gap.end() if gap else position
        span = _value_at(text, position, replace(label, is_said=count < 2))
        if span is not None:
            return span
        match = _WORD.match(text, position)
        if match is None or match.group()[-1] in ".;!?":
            return None
        position = match.end()
    return None


def _weak_line(text: str, start: int, position: int, label: _Label) -> Span | None:
    """A plain word that is all a line says: `- Password: swordfish`."""
    if not (label.is_password and label.is_tight) or text[position - 1 : position] == "\n":
        return None
    before = text[max(0, start - 24) : start].rpartition("\n")[2]
    word = _word_at(text, position)
    if word is None or re.search(r"[^\s\-*_>+#\"'`A-Z]", before) is not None:
        return None
    rest = text[position + len(word) : position + len(word) + 4].partition("\n")[0]
    is_alone = not rest.strip(_TRAILING + " \t\r")
    is_word = word.isalpha() and len(word) >= 5 and word.lower() not in shapes.ORDINARY_WORDS
    if is_alone and is_word and not shapes.PLACEHOLDER.search(word):
        return Span(position, position + len(word), label.kind)
    return None


def _looks_secret(value: str, label: _Label, *, is_quoted: bool) -> bool:
    if len(value) < 4 or value.lower() in shapes.ORDINARY_WORDS or any(map(str.isspace, value)):
        return False
    if shapes.PLACEHOLDER.search(value) or len(set(value)) < 3:
        return False
    if not is_quoted and (label.is_program or "(" in value) and shapes.EXPRESSION.search(value):
        return False
    minimum = SHORTEST_PASSWORD if label.is_password else SHORTEST_KEY
    if looks_random(value, minimum=minimum):
        return True
    return label.is_password and _looks_like_password(value, label, is_quoted=is_quoted)


def _looks_like_password(value: str, label: _Label, *, is_quoted: bool) -> bool:
    if shapes.EMAIL.fullmatch(value) or shapes.HYPHENATED_PROSE.search(value):
        return False
    if value.isdigit():
        return label.is_tight
    has_letter = any(letter.isalpha() for letter in value)
    inner = value.rstrip("!?.")
    if len(value) >= SHORTEST_PASSWORD and has_letter and any(sign in _SYMBOLS for sign in inner):
        return True
    return is_quoted and (label.is_tight or (label.is_said and value.isalnum()))


def _in_tables(text: str, places: list[_Place]) -> Iterator[Span]:
    """Cells beside a label, and cells under a column that is headed by one."""
    columns: dict[int, _Label] = {}
    header: dict[int, _Label] = {}
    starts = [place.start for place in places]
    position = 0
    for line in text.splitlines(keepends=True):
        if "|" not in line:
            columns, header = {}, {}
        elif _TABLE_RULE.match(line.rstrip()):
            columns = header
        else:
            cells = list(_cells(line, position))
            header = {}
            for index, (start, cell) in enumerate(cells):
                first = bisect_left(starts, start)
                near = places[first : first + 1]
                label = _label_of_cell(text, start, cell, near)
                if label is not None:
                    header[index] = label
            for index, (start, cell) in enumerate(cells):
                label = columns.get(index) or header.get(index - 1)
                span = _value_at(text, start, label) if label and cell else None
                if span is not None and span.end <= start + len(cell):
                    yield span
        position += len(line)


def _cells(line: str, offset: int) -> Iterator[tuple[int, str]]:
    position = 0
    for cell in line.rstrip("\r\n").split("|"):
        lead = len(cell) - len(cell.lstrip())
        yield offset + position + lead, cell.strip()
        position += len(cell) + 1


def _label_of_cell(text: str, start: int, cell: str, near: list[_Place]) -> _Label | None:
    """The label that a short cell is, `near` being the first label behind its start."""
    end = start + len(cell)
    if not near or near[0].end > end or len(cell) > LONGEST_LABEL_CELL:
        return None
    if shapes.OTHER_SUBJECT.search(text[near[0].end : end].strip(" *_`")):
        return None
    word = near[0].word
    return _Label(word.kind, is_password=word.is_password, is_tight=True)
