"""Citation marks: what of an answer's text names passages, in every form that models use.

A mark is found by its form alone; whether its numbers exist is the caller's to say. Code,
formulas and links are no prose: `prose_spans` tells in a raw text where marks may stand.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import regex

# [2] [1, 2] [1-3] [^1] [#1] [[1]] [1 and 2] [Source 1] and the same in full-width brackets,
# digits and commas; the tails of 【1†source】 and 【1:0†source】 are what some models add. At
# most four digits: 20 digits are no number of a passage. A minus sign or a dot inside leaves
# the text alone: [-1], [1.2].
_NUMBER = r"[0-9０-９]{1,4}"
_DASH = r"[-‐‑‒–—−~～]"
_LABEL = (
    r"(?:sources?|passages?|docs?|documents?|refs?|quellen?|fuentes?|fontes?|fonti|bron(?:nen)?"
    r"|źródł[oa]|источники?|джерел[оа]|来源|來源|出典|출처)"
)
_AND = r"(?:and|or|und|oder|et|ou|и|или|і|й|або|та|y|e|和|と|及|或)"
_LEAD = rf"(?:{_LABEL}[ \t]*:?[ \t]*)?[\^#]?"
_ITEM = rf"{_LEAD}{_NUMBER}(?:\s*{_DASH}\s*{_LEAD}{_NUMBER})?"
_SEPARATOR = rf"(?:\s*[,，、;；&]\s*(?:{_AND}\s+)?|\s+{_AND}\s+|\s*[和と及或]\s*)"
_TAIL = r"(?:(?::[0-9]{1,4})?†[^\]】］\[【［\n]{0,80})?"
_MARKER = regex.compile(
    rf"(?:\[\[|[\[【［])\s*({_ITEM}(?:{_SEPARATOR}{_ITEM})*)\s*{_TAIL}(?:\]\]|[\]】］])",
    regex.IGNORECASE,
)
_DIGITS = regex.compile(_NUMBER)
_SEPARATORS = regex.compile(_SEPARATOR, regex.IGNORECASE)
# A number or an interval that begins with nought, as in [0, 1], is no list of passages.
_INTERVAL = regex.compile(r"[\[]\s*0\s*,\s*[0-9]+\s*\]")
# What makes brackets after a word an index: they are called, assigned to or gone on from.
# Of `row[7][2].name` all are. Letters of other scripts stand before a mark without a space.
_CHAIN = r"(?:\[[^\[\]\n]{1,80}\])"
_BEFORE_INDEX = regex.compile(rf"(?<=[A-Za-z0-9_$]{_CHAIN}{{0,3}})")
_INDEX_GOES_ON = regex.compile(
    rf"{_CHAIN}{{0,3}}(?:\.[a-z_]|\(|[ \t]*[-+*/|&:]?=)|\[[a-z_]\w{{0,2}}\]"
)
# What stands so at the end of a text may become an index by what comes next.
_MAY_BE_INDEX = regex.compile(rf"[A-Za-z0-9_$]{_CHAIN}+[ \t]*[-+*/|&:.]?\Z")
# A turn has at most some hundred passages: four digits in brackets are a year or a reference.
MOST_DIGITS = 3
LONGEST_RANGE = 30

# Parts of a line that are no prose; the last alternative begins one that has no end.
_VERBATIM = regex.compile(
    r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|\$\$.*?\$\$|(?<![\\\d$])\$(?![\s$])[^$]*(?<![\\\s$])\$(?!\d)"
    r"|\\\(.*?\\\)|\\\[.*?\\\]|!?\[[^\[\]]*\]\([^()]*\)|(?P<open>`+|\$+|\\[(\[])"
)
_FENCE = regex.compile(r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?(`{3,}|~{3,}|\$\$|\\\[)")
_MAY_BE_FENCE = regex.compile(r"[ \t>*+\-\d.)]*(?:`+|~+|\$+|\\\[?)?[ \t]*")
_BRACKET = regex.compile(r"\\?[\[【［]")
_LINES = regex.compile(r"[^\n]*\n|[^\n]+")
_CLOSERS = {"`": "```", "~": "~~~", "$": "$$", "\\": "\\]"}


@dataclass(frozen=True, slots=True)
class Marker:
    """A mark in a text and the existing passages it names, in order.

    No numbers: the mark was invented, it names no passage of the turn. Not `is_whole`: it
    has a number besides that names none.
    """

    start: int
    end: int
    numbers: tuple[int, ...]
    is_whole: bool = True


def find_markers(text: str, *, exists: Callable[[int], bool]) -> list[Marker]:
    """The marks in `text`; those that name no passage that exists have no numbers.

    A range counts only when all of it exists. An index (`row[7] = 2`), an interval ([0, 1])
    and longer numbers ([2024]) that name no passage are text, not marks.
    """
    found = []
    for match in _MARKER.finditer(text):
        if _is_index(text, match) or _INTERVAL.fullmatch(match[0]):
            continue
        numbers = _numbers(match[1], exists)
        if numbers:
            is_whole = all(exists(int(number)) for number in _DIGITS.findall(match[1]))
            found.append(Marker(match.start(), match.end(), numbers, is_whole))
        elif all(len(number) <= MOST_DIGITS for number in _DIGITS.findall(match[1])):
            start = len(text[: match.start()].rstrip(" \t"))
            found.append(Marker(start, match.end(), ()))
    return found


def without_markers(text: str) -> str:
    """`text` less every citation mark of its prose, whatever passage it names."""
    return without_invented(text, numbers=())


def without_invented(text: str, *, numbers: Collection[int]) -> str:
    """`text` less the marks of its prose, or what of them names none of the passages `numbers`."""
    pieces = (
        _drop_invented(piece, numbers) if is_prose else piece
        for piece, is_prose in split_prose(text)
    )
    return "".join(pieces)


def split_prose(text: str) -> Iterator[tuple[str, bool]]:
    """The pieces of a raw text, and whether each is prose: no code, no formula, no link."""
    fence = ""
    for line in _LINES.findall(text):
        is_inside, fence = fence, fence_after(line, fence)
        if is_inside or fence:
            yield line, False
        else:
            yield from _split_line(line)


def fence_after(line: str, fence: str) -> str:
    """What ends the block of code or the formula that goes on below `line`; "" for none.

    `fence` is what ended the one that `line` stands in.
    """
    if fence:
        closes = fence in line if fence in {"$$", "\\]"} else line.lstrip(" \t>").startswith(fence)
        return "" if closes else fence
    opened = _FENCE.match(line)
    if opened is None:
        return ""
    closer = _CLOSERS[opened[1][0]]
    return "" if closer in line[opened.end() :] else closer


def sure_prefix(line: str) -> str:
    """The beginning of an unfinished line whose marks nothing to come can change.

    An open fence and a bracket behind code or a formula without an end are no part of it.
    """
    if _MAY_BE_FENCE.fullmatch(line) or fence_after(line, ""):
        return ""
    unsure = next((m for m in _VERBATIM.finditer(line) if m["open"] or m.end() == len(line)), None)
    bracket = _BRACKET.search(line, unsure.start()) if unsure else None
    return line[: bracket.start()] if bracket else line


def sure_of_index(line: str) -> str:
    """`line` less brackets at its end that may be an index by what comes next."""
    index = _MAY_BE_INDEX.search(line)
    return line[: index.start() + 1] if index else line


def is_marker(text: str) -> bool:
    """Whether `text`, in brackets, would be a mark."""
    return _MARKER.fullmatch(f"[{text}]") is not None


def _split_line(line: str) -> Iterator[tuple[str, bool]]:
    at = 0
    for match in _VERBATIM.finditer(line):
        if match["open"] is None:
            yield line[at : match.start()], True
            yield match[0], False
            at = match.end()
    yield line[at:], True


def _drop_invented(prose: str, numbers: Collection[int]) -> str:
    made, at = "", 0
    for marker in find_markers(prose, exists=numbers.__contains__):
        if not (marker.numbers and marker.is_whole):
            left = f"[{', '.join(map(str, marker.numbers))}]" if marker.numbers else ""
            made += prose[at : marker.start] + left
            at = marker.end
    return made + prose[at:]


def _is_index(text: str, match: regex.Match[str]) -> bool:
    is_after_a_word = _BEFORE_INDEX.match(text, match.start()) is not None
    return is_after_a_word and _INDEX_GOES_ON.match(text, match.end()) is not None


def _numbers(items: str, exists: Callable[[int], bool]) -> tuple[int, ...]:
    numbers: list[int] = []
    for item in _SEPARATORS.split(items):
        ends = [int(part) for part in _DIGITS.findall(item)]
        named = range(ends[0], ends[-1] + 1)
        if len(named) <= 1 + LONGEST_RANGE and all(exists(number) for number in named):
            numbers.extend(named)
    return tuple(dict.fromkeys(numbers))
