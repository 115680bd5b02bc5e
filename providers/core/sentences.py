"""Markdown text as plain sentences, in any script."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise

from providers.core.callouts import CALLOUT

# No name holds a bracket: a row of them is read once, not once from each.
_IMAGE = re.compile(r"!\[\[[^\[\]\n]*\]\]|!\[[^\[\]\n]*\]\([^)\n]*\)")
_WIKILINK = re.compile(r"\[\[([^\[\]|\n]*?)(?:\\?\|([^\[\]\n]*))?\]\]")
_LINK = re.compile(r"\[([^\[\]\n]*)\]\([^)\n]*\)")
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
# Not `2**n`, `a == b`: what stands between two words, or between blanks, is an operator.
_STRONG = re.compile(
    r"(?!(?<=\s)..\s|(?<=[A-Za-z0-9)\]])..[A-Za-z0-9(])(?:\*\*|==|~~)|__(?=\w)|(?<=\w)__"
)
# A number in brackets would be read as a citation.
_NUMBER = re.compile(r"\[(\d[\d,\s–-]*)\]")
_MARKER = re.compile(
    rf"^\s*(?:>\s?)*\s*(?:{CALLOUT}\s*)?(?:[-*+]\s+|\d{{1,4}}[.)]\s+)?(?:\[[ xX/-]\]\s+)?"
)
_CALLOUT_TITLE = re.compile(rf"\s*>[\s>]*{CALLOUT}")
_QUOTED = re.compile(r"\s*>")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s")
_RULE = re.compile(r"^[\s|:*_=-]*$")
_FENCE = re.compile(r"^[\s>]*(`{3,}|~{3,})")
_QUOTE_MARKS = re.compile(r"^\s*(?:>\s?)*")
# What stands between the header of a table and its rows.
_DELIMITERS = re.compile(r"^(?=.*\|)\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
# Not the bar of a wikilink, which Obsidian wants escaped and other programs do not.
_CELL_END = re.compile(r"(?<!\\)\|(?![^\[\]\n]*\]\])")
_LIST_ITEM = re.compile(r"^[\s>]*(?:[-*+]|\d{1,4}[.)])\s")
# The end of a sentence: closing punctuation and a space, or a full stop of a script that
# writes without spaces. "e.g. this" and "3.5 bar" go on in lower case or with a digit.
_END = re.compile(r"(?<=[.!?…।؟])[\"'”’»)\]]*\s+(?=[^\sa-zа-яіїєґ0-9])|(?<=[。！？])[」』”）]*")
# German writes its ordinals with a full stop and its nouns with a capital: "am 3. März".
_ORDINAL = re.compile(
    r"\b\d{1,2}\.\s+(?=(?:Jan|Jän|Feb|März|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jahrhundert|Quartal))"
)
# `#tag`, `[[Note]]`, `[text](address)` and bare addresses, with what joins them.
_POINTER = r"(?:#[\w/-]++|!?\[\[[^\]\n]*\]\]|!?\[[^\]\n]*\]\([^)\n]*\)|<?https?://\S++)"
_POINTERS_ALONE = re.compile(
    rf"^(?:[^\W\d_]{{1,12}}[.:]?\s+){{0,2}}(?:{_POINTER}[\s,;·、，。|/.]*)+$"
)
_POINTER_FIRST = re.compile(rf"^(?:\*\*|__)?{_POINTER}(?:\*\*|__)?\s*(?:[:：]|\s[–—-]\s)")
_MOST_CHARACTERS = 600


class Kind(Enum):
    """What a sentence stands in. A pointer only leads elsewhere: tags, links, what they are."""

    PROSE = "prose"
    ITEM = "item"
    ROW = "row"
    CODE = "code"
    POINTER = "pointer"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as a reader sees it, the block it stands in, and the headings above it."""

    text: str
    kind: Kind
    block: int
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Block:
    text: str
    kind: Kind
    headings: tuple[str, ...]
    is_title: bool = False


def sentences(markdown: str) -> list[str]:
    """The texts of `split`."""
    return [sentence.text for sentence in split(markdown)]


def split(markdown: str) -> list[Sentence]:
    """The sentences of a passage in its own words, without markup, headings and rules.

    A list item, a table row and a line of code are sentences of their own; the header of a
    table is none, it names the cells of the rows below. A sentence that is longer than 600
    characters is cut at a space and ends with an ellipsis.
    """
    visible = _CODE_OR_COMMENT.sub(lambda match: match["code"] or "", markdown)
    return [
        Sentence(_shortened(piece), block.kind, number, block.headings)
        for number, block in enumerate(_blocks(visible))
        for piece in _pieces(block.text)
        if any(char.isalnum() for char in piece)
    ]


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


def _blocks(markdown: str) -> list[_Block]:
    """Lines that belong together, joined: paragraphs; items, rows and code stay lines."""
    lines = markdown.splitlines()
    rows = _tables(lines)
    blocks: list[_Block] = []
    path: dict[int, str] = {}
    callout: tuple[str, ...] = ()
    is_open = in_code = False
    for number, line in enumerate(lines):
        callout = callout if _QUOTED.match(line) else ()
        headings = (*path.values(), *callout)
        if _FENCE.match(line):
            in_code, is_open = not in_code, False
        elif in_code:
            code = f"`{line.strip().strip('`')}`"
            blocks += [_Block(code, Kind.CODE, headings)] if line.strip() else []
        elif heading := _HEADING.match(line):
            _enter(path, len(heading[0].strip()), plain(line[heading.end() :]))
            is_open = False
        elif number in rows:
            blocks += [_Block(rows[number], Kind.ROW, headings)] if rows[number] else []
            is_open = False
        elif _RULE.match(line):
            is_open = False
        elif is_open and not _LIST_ITEM.match(line):
            blocks[-1] = _continued(blocks[-1], line)
        else:
            is_title = bool(_CALLOUT_TITLE.match(line))
            begun = replace(_begun(line, headings), is_title=is_title)
            callout = (begun.text,) if is_title and begun.text else callout
            blocks.append(replace(begun, headings=(*path.values(), *callout)))
            is_open = True
    return blocks


def _enter(path: dict[int, str], level: int, heading: str) -> None:
    """Headings of the same level and below end where another one begins."""
    for deeper in [each for each in path if each >= level]:
        del path[deeper]
    path[level] = heading


def _begun(line: str, headings: tuple[str, ...]) -> _Block:
    bare = _MARKER.sub("", line)
    kind = Kind.ITEM if _LIST_ITEM.match(line) else Kind.PROSE
    if _POINTERS_ALONE.match(bare.strip()) or (kind is Kind.ITEM and _POINTER_FIRST.match(bare)):
        kind = Kind.POINTER
    return _Block(plain(bare), kind, headings)


def _continued(block: _Block, line: str) -> _Block:
    bare = _MARKER.sub("", line)
    is_more = block.kind is Kind.POINTER and not _POINTERS_ALONE.match(bare.strip())
    kind = Kind.PROSE if is_more else block.kind
    # The title of a callout says of what its text speaks.
    is_label = block.is_title and block.text and not block.text.endswith((*".!?…:。！？：",))
    text = f"{block.text}: {plain(bare)}" if is_label else f"{block.text} {plain(bare)}"
    return replace(block, text=text, kind=kind, is_title=False)


def _tables(lines: list[str]) -> dict[int, str]:
    """The text of each row by the number of its line; none for header and dashes.

    A passage may begin in the middle of a table: a line that begins with a bar is a row.
    """
    bare = [_QUOTE_MARKS.sub("", line) for line in lines]
    texts: dict[int, str] = {}
    names: list[str] = []
    for number, line in enumerate(bare):
        before = number - 1
        if _DELIMITERS.match(line):
            is_headed = before >= 0 and "|" in bare[before]
            names = _cells(bare[before]) if is_headed else []
            texts |= {before: "", number: ""} if is_headed else {number: ""}
        elif line.startswith("|") or ("|" in line and before in texts):
            names = names if before in texts else []
            texts[number] = _row_text(_cells(line), names)
    return texts


def _cells(line: str) -> list[str]:
    return [plain(cell).replace("\\|", "|") for cell in _CELL_END.split(line.strip().strip("|"))]


def _row_text(cells: list[str], names: list[str]) -> str:
    """“first: second” of two cells; of more, each but the first with the name of its column."""
    told = [cell for cell in cells if any(char.isalnum() for char in cell)]
    if len(cells) == 2 and len(told) == 2:
        return f"{cells[0].rstrip(':：')}: {cells[1]}"
    if len(names) != len(cells):
        return " · ".join(told)
    labelled = [
        f"{name}: {cell}" if nth and name else cell
        for nth, (name, cell) in enumerate(zip(names, cells, strict=True))
        if cell in told
    ]
    return " · ".join(labelled)


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
