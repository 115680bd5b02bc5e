"""Markdown text as plain sentences, in any script."""

from __future__ import annotations

import re

_IMAGE = re.compile(r"!\[\[[^\]\n]*\]\]|!\[[^\]\n]*\]\([^)\n]*\)")
_WIKILINK = re.compile(r"\[\[([^\]|\n]*?)(?:\\?\|([^\]\n]*))?\]\]")
_LINK = re.compile(r"\[([^\]\n]*)\]\([^)\n]*\)")
_FOOTNOTE = re.compile(r"\[\^[^\]\n]{1,40}\]:?")
_BLOCK_ID = re.compile(r"\s\^[\w-]+$")
_COMMENT = re.compile(r"%%.*?%%|<!--.*?-->", re.DOTALL)
_STRONG = re.compile(r"\*\*|==|~~|__(?=\w)|(?<=\w)__")
# A number in brackets would be read as a citation.
_NUMBER = re.compile(r"\[(\d[\d,\s–-]*)\]")
_MARKER = re.compile(
    r"^\s*(?:>\s?)*\s*(?:\[![\w-]+\][+-]?\s*)?(?:[-*+]\s+|\d{1,4}[.)]\s+)?(?:\[[ xX/-]\]\s+)?"
)
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s")
_RULE = re.compile(r"^[\s|:*_=-]*$")
_FENCE = re.compile(r"^\s*(?:>\s?)*\s*(`{3,}|~{3,})")
_LIST_ITEM = re.compile(r"^\s*(?:>\s?)*\s*(?:[-*+]|\d{1,4}[.)])\s")
# The end of a sentence: closing punctuation and a space, or a full stop of a script that
# writes without spaces. "e.g. this" and "3.5 bar" go on in lower case or with a digit.
_END = re.compile(r"(?<=[.!?…।؟])[\"'”’»)\]]*\s+(?=[^\sa-zа-яіїєґ0-9])|(?<=[。！？])[」』”）]*")
_MOST_CHARACTERS = 600


def sentences(markdown: str) -> list[str]:
    """The sentences of a passage in its own words, without markup, headings and rules.

    A list item, a table row and a line of code are sentences of their own. One that is
    longer than 600 characters is cut at a space and ends with an ellipsis.
    """
    found: list[str] = []
    for block in _blocks(_COMMENT.sub("", markdown)):
        pieces = (piece.strip() for piece in _END.split(block))
        found.extend(_shortened(it) for it in pieces if any(char.isalnum() for char in it))
    return found


def first_sentence(markdown: str) -> str:
    """The first sentence of a passage, or an empty text."""
    return next(iter(sentences(markdown)), "")


def plain(line: str) -> str:
    """One line without inline markup; links keep the text a reader would see."""
    line = _IMAGE.sub("", line)
    line = _WIKILINK.sub(lambda match: match[2] or match[1].replace("#", " > "), line)
    line = _LINK.sub(r"\1", line)
    line = _FOOTNOTE.sub("", line)
    line = _BLOCK_ID.sub("", line)
    line = _STRONG.sub("", line)
    return _NUMBER.sub(r"(\1)", line).strip()


def _blocks(markdown: str) -> list[str]:
    """Lines that belong together, joined: paragraphs; items, rows and code stay lines."""
    blocks: list[str] = []
    is_open = False
    in_code = False
    for line in markdown.splitlines():
        if _FENCE.match(line):
            in_code, is_open = not in_code, False
            continue
        if in_code:
            if line.strip():
                blocks.append(f"`{line.strip().strip('`')}`")
            continue
        if _HEADING.match(line) or _RULE.match(line):
            is_open = False
            continue
        text = _line_text(line)
        starts = _LIST_ITEM.match(line) or line.lstrip().startswith("|")
        if is_open and not starts:
            blocks[-1] = f"{blocks[-1]} {text}"
        else:
            blocks.append(text)
        is_open = not line.lstrip().startswith("|")
    return blocks


def _line_text(line: str) -> str:
    if line.lstrip().startswith("|"):
        cells = (plain(cell) for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")))
        return " · ".join(cell for cell in cells if cell)
    return plain(_MARKER.sub("", line))


def _shortened(sentence: str) -> str:
    if len(sentence) <= _MOST_CHARACTERS:
        return sentence
    head = sentence[:_MOST_CHARACTERS]
    return (head.rsplit(" ", 1)[0] if " " in head[_MOST_CHARACTERS // 2 :] else head) + "…"
