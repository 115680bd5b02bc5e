"""Links, tags, anchors and comments inside a region of text, by linear scans."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field
from urllib.parse import unquote

import regex

# Stands for code and comments: no space, no letter, no sign that means something.
_FILLER = "\ufffc"
_VERBATIM = re.compile(r"\\.|`+|<!--|%%", re.DOTALL)
_BACKTICKS = re.compile(r"`+")
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n]{1,2000})\]\]")
_BRACKETS = re.compile(r"\\.|!?\[|\]\(|\]", re.DOTALL)
_ANGLED = re.compile(r"\(\s*<([^<>\n]{0,2000})>[^()\n]{0,500}\)")
_DESTINATION_SIGN = re.compile(r"\\.|[()\n]")
_MOST_DESTINATION = 2000
# Deeper is no address; what fails is tried again at each bracket.
_MOST_PARENTHESES = 8
_LINK_TITLE = re.compile(r"\s+(?:\"[^\"]*\"|'[^']*')\s*$")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}:|//")
_ADDRESS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s<>]+|www\.[^\s<>]+|</?[A-Za-z][^<>]{0,2000}>|\\."
)
_TAG = regex.compile(
    r"(?<![^\s(\[{（「『【《，。、；：！？])#"
    r"([\p{L}\p{M}\p{N}_/\-\p{Extended_Pictographic}\u200d\ufe0f--[#*0-9]]|[0-9])+",
    regex.VERSION1,
)
_TAG_TEXT = regex.compile(r"[\p{L}_\p{Extended_Pictographic}--[0-9]]", regex.VERSION1)
_COLOUR = re.compile(r"(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})", re.IGNORECASE)
_ANCHOR = re.compile(r"(?:^|(?<=\s))\^([A-Za-z0-9-]+)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class InlineLink:
    """A link as written, its offset in the body."""

    target: str
    anchor: str
    alias: str
    is_embed: bool
    start: int


@dataclass(slots=True)
class Inline:
    """What stands in the regions read so far; offsets are characters of the body."""

    links: list[InlineLink] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    anchors: list[tuple[str, int]] = field(default_factory=list)
    hidden: list[tuple[int, int]] = field(default_factory=list)


def read_inline(text: str, offset: int, into: Inline) -> None:
    """Add what a region's text holds. `offset` is where the region begins in the body."""
    if not any(sign in text for sign in ("[", "#", "%%", "<!--", "^")):
        return
    verbatim, hidden = _verbatim_spans(text)
    into.hidden += [(start + offset, end + offset) for start, end in hidden]
    lean = _blanked(text, sorted(verbatim + hidden))
    if "^" in lean:
        into.anchors += [(found[1], found.start() + offset) for found in _ANCHOR.finditer(lean)]
    spans: list[tuple[int, int]] = []
    if "[" in lean:
        spans = _read_links(lean, text, offset, into)
    if "#" in lean:
        _read_tags(_blanked(lean, sorted(spans)), into)


def read_comments(text: str, offset: int, into: Inline) -> None:
    """Add the HTML comments of raw HTML; nothing else is read there."""
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start + 4)
        if end < 0:
            return
        into.hidden.append((start + offset, end + 3 + offset))
        start = text.find("<!--", end)


def is_tag(text: str) -> bool:
    """Whether the text after `#` is a tag: not a number, not a colour."""
    if not _TAG_TEXT.search(text):
        return False
    return not (_COLOUR.fullmatch(text) and _looks_like_colour(text.lower()))


def _looks_like_colour(text: str) -> bool:
    """Six or eight digits with a number among them, or letters repeated as in `fff`, `fafafa`."""
    if len(text) > 3 and any(char.isdigit() for char in text):
        return True
    pairs = {text[position : position + 2] for position in range(0, len(text), 2)}
    return len(set(text)) == 1 or (len(text) > 3 and len(pairs) == 1)


def _verbatim_spans(text: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Spans of inline code, and of comments; whichever opens first wins."""
    code: list[tuple[int, int]] = []
    hidden: list[tuple[int, int]] = []
    closers = _closers(text)
    position = 0
    while found := _VERBATIM.search(text, position):
        sign, start, position = found[0], found.start(), found.end()
        if sign.startswith("`"):
            end = _code_end(closers, len(sign), position)
            if end:
                code.append((start, end))
        elif sign in {"<!--", "%%"}:
            closer = "-->" if sign == "<!--" else "%%"
            end = text.find(closer, position) + len(closer)
            if end >= position + len(closer):
                hidden.append((start, end))
            else:
                end = 0
                # Unclosed: text. It need not be looked for again.
                text = text[:start] + text[start:].replace(sign, _FILLER * len(sign))
        else:
            continue
        position = end or position
    return code, hidden


def _closers(text: str) -> dict[int, list[int]]:
    closers: dict[int, list[int]] = defaultdict(list)
    for found in _BACKTICKS.finditer(text):
        closers[len(found[0])].append(found.start())
    return closers


def _code_end(closers: dict[int, list[int]], length: int, after: int) -> int:
    places = closers[length]
    index = bisect_left(places, after)
    return places[index] + length if index < len(places) else 0


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    parts: list[str] = []
    reached = 0
    for start, end in spans:
        if start < reached:
            continue
        parts += [text[reached:start], _FILLER * (end - start)]
        reached = end
    return "".join([*parts, text[reached:]]) if parts else text


def _read_links(lean: str, text: str, offset: int, into: Inline) -> list[tuple[int, int]]:
    """Add the links of `lean`, where code is blanked; labels are taken from `text`."""
    links: list[InlineLink] = []
    spans: list[tuple[int, int]] = []
    for found in _WIKILINK.finditer(lean):
        if _is_escaped(lean, found.start()):
            continue
        spans.append(found.span())
        target, anchor, alias = _wikilink_parts(found[2])
        if (target or anchor) and not _SCHEME.match(target):
            start = found.start() + offset
            links.append(InlineLink(target, anchor, alias, bool(found[1]), start))
    if "](" in lean:
        _read_markdown_links(_blanked(lean, spans), text, offset, (links, spans))
    into.links += sorted(links, key=lambda link: link.start)
    return spans


def _is_escaped(text: str, position: int) -> bool:
    before = position - 1
    while before >= 0 and text[before] == "\\":
        before -= 1
    return (position - before) % 2 == 0


def whole_wikilink(text: str) -> tuple[str, str, str] | None:
    """Target, anchor and alias of a text that is one wikilink; None for every other."""
    found = _WIKILINK.fullmatch(text.strip())
    return _wikilink_parts(found[2]) if found and not found[1] else None


def _wikilink_parts(inner: str) -> tuple[str, str, str]:
    # A table cell writes the pipe as `\|`; people do so outside tables as well.
    written, _, alias = inner.partition("|")
    target, _, anchor = written.rstrip("\\").partition("#")
    return _nfc(target), _nfc(anchor), alias.strip()


def _read_markdown_links(
    lean: str, text: str, offset: int, into: tuple[list[InlineLink], list[tuple[int, int]]]
) -> None:
    """Links of the form `[label](destination "title")`, labels matched by a stack."""
    links, spans = into
    opened: list[tuple[int, bool]] = []
    position = 0
    while found := _BRACKETS.search(lean, position):
        sign, position = found[0], found.end()
        if sign.endswith("["):
            opened.append((found.start(), sign == "!["))
        elif sign.startswith("]") and opened:
            start, is_embed = opened.pop()
            destination = _destination(lean, found.start() + 1) if sign == "](" else None
            if destination is None:
                continue
            written, position = destination
            spans.append((found.start(), position))
            label = text[start + 1 + is_embed : found.start()]
            link = _local_link(written, label, is_embed=is_embed, start=start + offset)
            if link:
                links.append(link)


def _destination(text: str, opener: int) -> tuple[str, int] | None:
    """What stands in the parentheses at `opener`, and where they end. Blanks are accepted."""
    angled = _ANGLED.match(text, opener)
    if angled:
        return angled[1], angled.end()
    depth = 0
    position = opener
    while found := _DESTINATION_SIGN.search(text, position, opener + _MOST_DESTINATION):
        position = found.end()
        if found[0] == "(":
            depth += 1
            if depth > _MOST_PARENTHESES:
                return None
        elif found[0] == ")":
            depth -= 1
            if not depth:
                return _LINK_TITLE.sub("", text[opener + 1 : position - 1]).strip(), position
        elif found[0] == "\n":
            return None
    return None


def _local_link(written: str, label: str, *, is_embed: bool, start: int) -> InlineLink | None:
    """The link to a note or file of the vault; None for addresses elsewhere. Decoded once."""
    if not written or _SCHEME.match(written):
        return None
    path, _, anchor = written.partition("#")
    target = _nfc(unquote(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", path)))
    alias = label.replace(_FILLER, "").strip()
    return InlineLink(target, _nfc(unquote(anchor)), alias, is_embed, start)


def _read_tags(text: str, into: Inline) -> None:
    text = _blanked(text, [found.span() for found in _ADDRESS.finditer(text)])
    for found in _TAG.finditer(text):
        tag = _nfc(found[0][1:]).strip("/").rstrip("-")
        if tag and is_tag(tag):
            into.tags.append(tag)


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()
