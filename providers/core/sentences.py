"""Markdown text as plain sentences, in any script."""

from __future__ import annotations

import re
from itertools import pairwise

_IMAGE = re.compile(r"!\[\[[^\]\n]*\]\]|!\[[^\]\n]*\]\([^)\n]*\)")
_WIKILINK = re.compile(r"\[\[([^\]|\n]*?)(?:\\?\|([^\]\n]*))?\]\]")
_LINK = re.compile(r"\[([^\]\n]*)\]\([^)\n]*\)")
_FOOTNOTE = re.compile(r"\[\^[^\]\n]{1,40}\]:?")
_BLOCK_ID = re.compile(r"\s\^[\w-]+$")
# Code is shown as it stands: what looks like markup in it is none.
_SPAN = r"(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)(?P=ticks)(?!`)"
_FENCED = r"^[ >]*(?P<fence>`{3,}|~{3,}).*?(?:^[ >]*(?P=fence)|\Z)"
_CODE_SPAN = re.compile(_SPAN, re.DOTALL)
_CODE_OR_COMMENT = re.compile(
    rf"(?P<code>{_FENCED}|{_SPAN})|%%.*?%%|<!--.*?-->", re.DOTALL | re.MULTILINE
)
_KEPT = re.compile("\0(\\d+)\0")
_STRONG = re.compile(r"\*\*|==|~~|__(?=\w)|(?<=\w)__")
# A number in brackets would be read as a citation.
_NUMBER = re.compile(r"\[(\d[\d,\s–-]*)\]")
_MARKER = re.compile(
    r"^\s*(?:>\s?)*\s*(?:\[![\w-]+\][+-]?\s*)?(?:[-*+]\s+|\d{1,4}[.)]\s+)?(?:\[[ xX/-]\]\s+)?"
)
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s")
_RULE = re.compile(r"^[\s|:*_=-]*$")
_FENCE = re.compile(r"^\s*(?:>\s?)*\s*(`{3,}|~{3,})")
_QUOTE_MARKS = re.compile(r"^\s*(?:>\s?)*")
# What stands between the header of a table and its rows.
_DELIMITERS = re.compile(r"^(?=.*\|)\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_CELL_END = re.compile(r"(?<!\\)\|")
_LIST_ITEM = re.compile(r"^\s*(?:>\s?)*\s*(?:[-*+]|\d{1,4}[.)])\s")
# The end of a sentence: closing punctuation and a space, or a full stop of a script that
# writes without spaces. "e.g. this" and "3.5 bar" go on in lower case or with a digit.
_END = re.compile(r"(?<=[.!?…।؟])[\"'”’»)\]]*\s+(?=[^\sa-zа-яіїєґ0-9])|(?<=[。！？])[」』”）]*")
# German writes its ordinals with a full stop and its nouns with a capital: "am 3. März".
_ORDINAL = re.compile(
    r"\b\d{1,2}\.\s+(?=(?:Jan|Jän|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jahrhundert|Quartal))"
)
_MOST_CHARACTERS = 600


def sentences(markdown: str) -> list[str]:
    """The sentences of a passage in its own words, without markup, headings and rules.

    A list item, a table row and a line of code are sentences of their own; the header of a
    table is none. One that is longer than 600 characters is cut at a space and ends with
    an ellipsis.
    """
    visible = _CODE_OR_COMMENT.sub(lambda match: match["code"] or "", markdown)
    pieces = (piece for block in _blocks(visible) for piece in _pieces(block))
    return [_shortened(piece) for piece in pieces if any(char.isalnum() for char in piece)]


def first_sentence(markdown: str) -> str:
    """The first sentence of a passage, or an empty text."""
    return next(iter(sentences(markdown)), "")


def plain(line: str) -> str:
    """One line without inline markup; links keep the text a reader would see, and code
    stays as it was written."""
    line = line.replace("\0", "")
    codes = [match[0] for match in _CODE_SPAN.finditer(line)]
    numbers = iter(range(len(codes)))
    line = _CODE_SPAN.sub(lambda _match: f"\0{next(numbers)}\0", line)
    line = _IMAGE.sub("", line)
    line = _WIKILINK.sub(lambda match: match[2] or match[1].replace("#", " > "), line)
    line = _LINK.sub(r"\1", line)
    line = _FOOTNOTE.sub("", line)
    line = _BLOCK_ID.sub("", line)
    line = _STRONG.sub("", line)
    line = _NUMBER.sub(r"(\1)", line).strip()
    return _KEPT.sub(lambda match: codes[int(match[1])], line)


def _blocks(markdown: str) -> list[str]:
    """Lines that belong together, joined: paragraphs; items, rows and code stay lines."""
    lines = markdown.splitlines()
    headers, rows = _tables(lines)
    blocks: list[str] = []
    is_open = False
    in_code = False
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            in_code, is_open = not in_code, False
        elif in_code:
            blocks += [f"`{line.strip().strip('`')}`"] if line.strip() else []
        elif number in headers or _HEADING.match(line) or _RULE.match(line):
            is_open = False
        elif number in rows:
            blocks.append(_row_text(line))
            is_open = False
        elif is_open and not _LIST_ITEM.match(line):
            blocks[-1] = f"{blocks[-1]} {plain(_MARKER.sub('', line))}"
        else:
            blocks.append(plain(_MARKER.sub("", line)))
            is_open = True
    return blocks


def _tables(lines: list[str]) -> tuple[set[int], set[int]]:
    """The numbers of the lines that head a table (with those of the dashes) and of its rows.

    A passage may begin in the middle of a table: a line that begins with a bar is a row.
    """
    bare = [_QUOTE_MARKS.sub("", line) for line in lines]
    headers: set[int] = set()
    rows = {number for number, line in enumerate(bare) if line.startswith("|")}
    for number, line in enumerate(bare):
        if _DELIMITERS.match(line):
            is_headed = number > 0 and "|" in bare[number - 1]
            headers |= {number - 1, number} if is_headed else {number}
        elif "|" in line and number and (number - 1 in rows or number - 1 in headers):
            rows.add(number)
    return headers, rows - headers


def _row_text(line: str) -> str:
    cells = _CELL_END.split(_QUOTE_MARKS.sub("", line).strip().strip("|"))
    texts = (plain(cell).replace("\\|", "|") for cell in cells)
    return " · ".join(text for text in texts if text)


def _pieces(block: str) -> list[str]:
    """A block cut behind the ends of its sentences, never inside code or an ordinal."""
    whole = [match.span() for rule in (_CODE_SPAN, _ORDINAL) for match in rule.finditer(block)]
    ends = [
        match.end()
        for match in _END.finditer(block)
        if not any(start < match.start() < end for start, end in whole)
    ]
    cuts = [0, *ends, len(block)]
    return [block[start:end].strip() for start, end in pairwise(cuts)]


def _shortened(sentence: str) -> str:
    if len(sentence) <= _MOST_CHARACTERS:
        return sentence
    head = sentence[:_MOST_CHARACTERS]
    return (head.rsplit(" ", 1)[0] if " " in head[_MOST_CHARACTERS // 2 :] else head) + "…"
