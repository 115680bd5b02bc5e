"""The properties at the top of a note: where they end, and what they say."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from vault.core.yaml_values import (
    Mapping,
    Node,
    NotReadable,
    Scalar,
    Sequence,
    as_json,
    as_texts,
    read_yaml,
)

_MOST_CHARACTERS = 64_000
_OPENER = re.compile(r"---[ \t]*\n")
_CLOSER = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
# How properties begin, should YAML refuse to read them; text after a rule begins otherwise.
_KEY_LINE = re.compile(r"(?:#[^\n]*\n)*[\"']?[^\s\"'#\[\]{}|>][^:\n]{0,60}[\"']?:(?:\s|$)")
_TAB_AFTER_KEY = re.compile(r"^[^\s\"'#:][^\"'#:\n]*:\t", re.MULTILINE)
_PLAIN_KEY = re.compile(r"[\w.-]+(?: [\w.-]+){0,2}")
_PLACEHOLDER = re.compile(r"\s*(?:\{\{.*\}\}|<%.*%>)\s*", re.DOTALL)
_TAG_BREAK = re.compile(r"[,\s]+")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Properties as JSON values, and the texts among them that name the note.

    `body_start` is the character, `body_line` the line from 1 of the file where the body
    begins. Lines of warnings are lines of the file.
    """

    properties: dict[str, Any] = field(default_factory=dict)
    title: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    body_start: int = 0
    body_line: int = 1
    warnings: tuple[tuple[str, int | None], ...] = ()


def read_front_matter(text: str) -> FrontMatter:
    """Read the block between `---` on the first line and the next `---` or `...`.

    Never raises. A block that is no mapping is a horizontal rule and text, so all of it
    stays body; a block with broken YAML is taken off with a warning; one that never ends,
    or is larger than 64,000 characters, stays body with a warning.
    """
    opener = _OPENER.match(text)
    if not opener:
        return FrontMatter()
    closer = _CLOSER.search(text, opener.end())
    header = text[opener.end() : closer.start()] if closer else text[opener.end() :][:200]
    has_key = bool(_KEY_LINE.match(header))
    if not closer:
        unclosed = ("the properties at the top are never closed with ---", 1)
        return FrontMatter(warnings=(unclosed,) if has_key else ())
    if len(header) > _MOST_CHARACTERS:
        too_large = (f"the properties at the top are larger than {_MOST_CHARACTERS} characters", 1)
        return FrontMatter(warnings=(too_large,) if has_key else ())
    body_start = min(closer.end() + 1, len(text))
    body_line = text.count("\n", 0, body_start) + 1
    try:
        node, found = read_yaml(header)
    except NotReadable as refused:
        if not has_key:
            return FrontMatter()
        reason = f"the properties could not be read: {refused}"
        return FrontMatter(
            body_start=body_start, body_line=body_line, warnings=((reason, refused.line + 2),)
        )
    if node is not None and not isinstance(node, Mapping):
        return FrontMatter()
    if node and header[:1].isspace() and not _has_plain_keys(node):
        # A rule, a blank line, and a sentence with a colon in it.
        return FrontMatter()
    tab = _TAB_AFTER_KEY.search(header)
    if tab:
        # The C loader takes it, other programs that read the vault do not.
        found.append(("a tab after the colon; write a space", header.count("\n", 0, tab.start())))
    return _read_mapping(node or Mapping(()), found, body_start=body_start, body_line=body_line)


def clean_tag(text: str) -> str:
    """A tag as it is stored: NFC, without `#` in front or slashes around."""
    return unicodedata.normalize("NFC", text).strip().lstrip("#").strip("/").strip()


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts that are not empty, each once by case-insensitive comparison, in order."""
    seen: dict[str, str] = {}
    for text in texts:
        if text:
            seen.setdefault(text.casefold(), text)
    return tuple(seen.values())


def is_placeholder(text: str) -> bool:
    """Whether a text is nothing but what a template program would have filled in."""
    return bool(_PLACEHOLDER.fullmatch(text))


def _has_plain_keys(node: Mapping) -> bool:
    return all(_PLAIN_KEY.fullmatch(key.text) for key, _value in node.pairs)


def _read_mapping(
    node: Mapping, found: list[tuple[str, int]], *, body_start: int, body_line: int
) -> FrontMatter:
    warnings = found
    properties = as_json(node, warnings)
    by_name = {key.text.strip().lower(): value for key, value in node.pairs}
    return FrontMatter(
        properties=properties,
        title=_title(by_name.get("title")),
        tags=distinct(_tags(by_name.get("tags"), by_name.get("tag"))),
        aliases=distinct(_aliases(by_name.get("aliases"), by_name.get("alias"))),
        body_start=body_start,
        body_line=body_line,
        # Line 0 of the YAML is line 2 of the file.
        warnings=tuple((reason, line + 2) for reason, line in warnings),
    )


def _title(node: Node | None) -> str:
    if not isinstance(node, Scalar) or not as_texts(node) or is_placeholder(node.text):
        return ""
    return " ".join(node.text.split())


def _tags(*nodes: Node | None) -> Iterable[str]:
    for node in nodes:
        if isinstance(node, Scalar):
            for scalar in as_texts(node):
                yield from map(clean_tag, _TAG_BREAK.split(scalar.text))
        elif isinstance(node, Sequence):
            # A mapping under tags names nothing.
            items = [item for item in node.items if not isinstance(item, Mapping)]
            yield from (clean_tag(scalar.text) for item in items for scalar in as_texts(item))


def _aliases(*nodes: Node | None) -> Iterable[str]:
    for node in nodes:
        if isinstance(node, Scalar) and node.is_plain:
            for scalar in as_texts(node):
                yield from (part.strip() for part in scalar.text.split(","))
        elif node is not None:
            yield from (" ".join(scalar.text.split()) for scalar in as_texts(node))
