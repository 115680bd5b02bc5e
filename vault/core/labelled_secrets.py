"""Secrets that only a label gives away: `password: …`, "the password is …", table cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from vault.core import secret_shapes as shapes
from vault.core.secret_spans import Span

SHORTEST_PASSWORD = 6
SHORTEST_KEY = 8
LONGEST_VALUE = 400
LONGEST_LABEL_CELL = 48
# How far behind "the password is" a value may stand: "is now", "is still set to".
WORDS_AFTER_VERB = 4

_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "„": "“”", "«": "»", "「": "」", "”": "”"}
_WORD = re.compile(r"[^\s⟦⟧|]{1,400}")
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


def find_labelled(text: str) -> Iterator[Span]:
    """Values behind labels, in running text, assignments, options and tables."""
    labels = shapes.label_pattern(text.lower())
    if labels is None:
        return
    for match in labels.finditer(text):
        span = _value_behind(text, match)
        if span is not None:
            yield span
    for match in _COMMAND_OPTION.finditer(text):
        label = _Label("password", is_password=True, is_program=True)
        if _looks_secret(match["value"], label, is_quoted=False):
            yield Span(*match.span("value"), "password")
    if "|" in text:
        yield from _in_tables(text, labels)


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


def _value_behind(text: str, match: re.Match[str]) -> Span | None:
    if match.start() and text[match.start() - 1] in "⟦/":
        return None
    separator = shapes.SEPARATOR.match(text, match.end())
    if separator is None:
        return None
    gap = shapes.BREAK.match(text, separator.end())
    position = gap.end() if gap else separator.end()
    suffix = separator["suffix"]
    if suffix and shapes.OTHER_SUBJECT.search(suffix):
        return None
    label = _Label(
        kind=_kind_of(match),
        is_password=match.lastgroup is not None and match.lastgroup.endswith("password"),
        is_tight=not suffix and not separator["remark"].strip()
        and bool(separator["sign"]) and not (gap and gap["newline"]),
        is_program="=" in (separator["sign"] or ""),
    )  # fmt: skip
    if separator["verb"] is not None:
        return _value_in_prose(text, position, label)
    return _value_at(text, position, label) or _weak_line(text, match, position, label)


def _kind_of(match: re.Match[str]) -> str:
    group = match.lastgroup or ""
    if group.endswith("password"):
        return "password"
    word = match.group().lower()
    for part, kind in (("token", "token"), ("токен", "token"), ("key", "api-key")):
        if part in word:
            return kind
    return "secret"


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


def _weak_line(text: str, match: re.Match[str], position: int, label: _Label) -> Span | None:
    """A plain word that is all a line says: `- Password: swordfish`."""
    if not (label.is_password and label.is_tight) or text[position - 1 : position] == "\n":
        return None
    before = text[max(0, match.start() - 24) : match.start()].rpartition("\n")[2]
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


def _in_tables(text: str, labels: re.Pattern[str]) -> Iterator[Span]:
    """Cells beside a label, and cells under a column that is headed by one."""
    columns: dict[int, _Label] = {}
    header: dict[int, _Label] = {}
    position = 0
    for line in text.splitlines(keepends=True):
        if "|" not in line:
            columns, header = {}, {}
        elif _TABLE_RULE.match(line.rstrip()):
            columns = header
        else:
            cells = list(_cells(line, position))
            header = {index: label for index, (_, cell) in enumerate(cells)
                      if (label := _label_of_cell(cell, labels))}  # fmt: skip
            for index, (start, cell) in enumerate(cells):
                label = columns.get(index) or header.get(index - 1)
                span = _value_at(text, start, label) if label and cell else None
                if span is not None and span.end <= start + len(cell):
                    yield span
        position += len(line)


def _cells(line: str, offset: int) -> Iterator[tuple[int, str]]:
    position = 0
    for cell in line.rstrip("\r\n").split("|"):
        stripped = cell.strip()
        lead = len(cell) - len(cell.lstrip())
        yield offset + position + lead, stripped
        position += len(cell) + 1


def _label_of_cell(cell: str, labels: re.Pattern[str]) -> _Label | None:
    if len(cell) > LONGEST_LABEL_CELL:
        return None
    match = labels.search(cell)
    if match is None or shapes.OTHER_SUBJECT.search(cell[match.end() :].strip(" *_`")):
        return None
    is_password = (match.lastgroup or "").endswith("password")
    return _Label(_kind_of(match), is_password=is_password, is_tight=True)
