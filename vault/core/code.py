"""Source code as a note: its definitions are its headings, cut where they begin.

Definitions are found by the words and signs that languages begin them with, and nested by
indentation. A line that only looks like one costs a cut, never text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from vault.core.file_kinds import language_of
from vault.core.types import Block, BlockKind, Heading, NoteKind, ParsedNote

# What nobody wrote by hand has lines like this on average.
_LONGEST_AVERAGE_LINE = 500
_ENOUGH_TO_JUDGE = 20_000
LARGEST_CODE = 1_000_000
_TAB = 4

_MODIFIERS = (
    r"(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|async|"
    r"unsafe|extern|sealed|partial|virtual|override|readonly|open|inline|const|data|pub(?:\([^)]*\))?|"
    r"mut|local|suspend|operator|implicit|case|lazy|mutating|@\w+)\s++)*"
)
_CONTAINER_WORDS = (
    r"class|interface|trait|struct|enum|impl|namespace|module|defmodule|object|extension|protocol|"
    r"record|union|mod"
)
_FUNCTION_WORDS = (
    r"def|defp|defn-?|defmacro|func|function\*?|fn|fun|sub|macro_rules!|macro|type|proc|method"
)
_NAME = r"[A-Za-z_$][\w$.:!?-]*"
_KEYWORD = re.compile(
    rf"(?P<indent>[ \t]*)\(?{_MODIFIERS}"
    rf"(?:(?P<container>{_CONTAINER_WORDS})|(?:{_FUNCTION_WORDS}))(?!\w)"
    rf"(?:\s*\((?P<receiver>[^()]{{0,80}})\))?(?:<[^<>]{{0,80}}>)?\s+(?P<name>{_NAME})"
    rf"(?P<rest>[^{{(:=;]{{0,80}})"
)
_ASSIGNED = re.compile(
    rf"(?P<indent>[ \t]*){_MODIFIERS}(?:(?:const|let|var)\s+)?(?P<name>{_NAME})\s*"
    r"(?:=|<-|:=)\s*(?:async\s*)?(?:function\b|\([^()]{0,200}\)\s*(?::[^=]{1,60})?=>|\w+\s*=>|\\\()"
)
_SHELL = re.compile(r"(?P<indent>[ \t]*)(?P<name>[\w.:-]+)\s*\(\)\s*\{?\s*$")
_SQL = re.compile(
    r"(?P<indent>[ \t]*)create\s+(?:or\s+replace\s+)?(?:\w+\s+){0,2}?"
    r"(?:table|view|function|procedure|trigger|index|type|schema)\s+(?:if\s+not\s+exists\s+)?"
    r"(?P<name>[\w.\"`]+)",
    re.IGNORECASE,
)
# `int main(void) {`, `void Engine::start()`, `constructor(name) {`, `get(key: K): V {`
_CALLABLE = re.compile(
    rf"(?P<indent>[ \t]*){_MODIFIERS}(?:[A-Za-z_][\w:<>,*&\[\]? ]{{0,80}}?[\s*&])?"
    r"(?P<name>~?[A-Za-z_$#][\w$:~]*)\s*(?:<[^<>()]{0,60}>)?\([^;{}]*+\{?\s*$"
)
_STATEMENTS = """
    if for while switch catch return else do try throw new await when match using lock sizeof
    elif with foreach unless until synchronized assert defer go select yield delete typeof
    and or not in is function super this print require
"""
_NO_NAMES = frozenset(_STATEMENTS.split())
_BRACED = frozenset(
    {"javascript", "typescript", "java", "csharp", "c", "cpp", "dart", "php", "kotlin", "scala"}
)
_BELONGS = re.compile(r"\s*(?:#(?!!|include|define|if|endif)|//|/\*|\*|--|@|\[|\"\"\"|;;|%)")
_PARAGRAPH_GAP = re.compile(r"\n(?:[ \t]*\n)+")


class UnreadableCode(Exception):
    """The file is nothing that somebody wrote to be read. `str()` says why."""


@dataclass(frozen=True, slots=True)
class _Definition:
    """Where a definition begins, with the comments and decorators above it."""

    name: str
    start: int
    line: int
    level: int


def parse_code(text: str, *, path: str) -> ParsedNote:
    """Read a scrubbed source file: title is its path, headings are its definitions.

    The body is the whole file. Raises UnreadableCode for minified and oversized text.
    """
    _check(text)
    language = language_of(path)
    definitions = list(_definitions(text, language))
    return ParsedNote(
        title=path,
        body=text,
        kind=NoteKind.CODE,
        language=language,
        headings=tuple(Heading(d.level, d.name, d.start, d.line) for d in definitions),
        blocks=tuple(_blocks(text, [definition.start for definition in definitions])),
    )


def _check(text: str) -> None:
    if len(text) > LARGEST_CODE:
        raise UnreadableCode(
            f"It has {len(text) // 1000:,} kB; source files over {LARGEST_CODE // 1000:,} kB are "
            "not read. Split it, or leave it out in .brainignore."
        )
    average = len(text) / (text.count("\n") + 1)
    if len(text) > _ENOUGH_TO_JUDGE and average > _LONGEST_AVERAGE_LINE:
        raise UnreadableCode(
            f"Its lines have {average:,.0f} characters on average: it looks generated. "
            "Leave it out in .brainignore."
        )


def _definitions(text: str, language: str) -> Iterator[_Definition]:
    """Top-level definitions, and those inside classes and other containers."""
    # (indentation, may hold definitions) of what is open at this line.
    open_ones: list[tuple[int, bool]] = []
    lines = text.split("\n")
    starts = _line_starts(lines)
    free_from = 0
    for number, line in enumerate(lines):
        found = _match(line, language) if line.strip() else None
        if found is None:
            continue
        name, indent, is_container = found
        while open_ones and open_ones[-1][0] >= indent:
            open_ones.pop()
        if not all(holds for _indent, holds in open_ones) or (indent and not open_ones):
            continue
        first = _first_line(lines, number, free_from)
        free_from = number + 1
        yield _Definition(name, starts[first], first + 1, min(6, len(open_ones) + 1))
        open_ones.append((indent, is_container))


def _line_starts(lines: list[str]) -> list[int]:
    starts, reached = [], 0
    for line in lines:
        starts.append(reached)
        reached += len(line) + 1
    return starts


def _match(line: str, language: str) -> tuple[str, int, bool] | None:
    """Name, indentation and whether it is a container, when the line begins a definition."""
    if len(line) > 400:
        return None
    keyword = _KEYWORD.match(line)
    if keyword and not line.rstrip().endswith(";"):
        indent = _width(keyword["indent"])
        return _shown(keyword), indent, bool(keyword["container"])
    for pattern, is_for in (
        (_ASSIGNED, language in _BRACED or language == "r"),
        (_SHELL, language == "bash"),
        (_SQL, language == "sql"),
        (_CALLABLE, language in _BRACED),
    ):
        found = pattern.match(line) if is_for else None
        if found and (pattern is _SQL or not _is_statement(found, line)):
            return found["name"], _width(found["indent"]), False
    return None


def _is_statement(found: re.Match[str], line: str) -> bool:
    words = re.findall(r"[\w$]+", line[: found.end("name")])
    return bool(_NO_NAMES.intersection(words)) or line.rstrip().endswith((";", ","))


def _shown(found: re.Match[str]) -> str:
    """`Store.get` of `func (s *Store) get`, `impl Read for File`, else the name."""
    name = found["name"].rstrip(":.-")
    if found["receiver"]:
        return f"{found['receiver'].split()[-1].lstrip('*&')}.{name}"
    rest = found["rest"].strip()
    if found["container"] == "impl" and rest.startswith("for "):
        return f"{name} {rest}"
    return name


def _width(indent: str) -> int:
    return len(indent.expandtabs(_TAB))


def _first_line(lines: list[str], number: int, free_from: int) -> int:
    """The line where comments and decorators right above a definition begin."""
    first = number
    while first > free_from and _BELONGS.match(lines[first - 1]):
        first -= 1
    return first


def _blocks(text: str, starts: list[int]) -> Iterator[Block]:
    """A block for what stands before the first definition, and one for each of them."""
    edges = [0, *(start for start in starts if start), len(text)]
    for start, end in pairwise(edges):
        stop = start + len(text[start:end].rstrip())
        if stop > start:
            begin = start + _leading_blank(text[start:stop])
            yield Block(BlockKind.CODE, begin, stop, tuple(_paragraphs(text, begin, stop)))


def _leading_blank(text: str) -> int:
    """Characters of empty lines in front; the indentation of the first line stays."""
    lead = len(text) - len(text.lstrip())
    return text.rfind("\n", 0, lead) + 1


def _paragraphs(text: str, start: int, end: int) -> Iterator[Block]:
    """What stands between empty lines: where a long definition is cut."""
    reached = start
    for gap in _PARAGRAPH_GAP.finditer(text, start, end):
        if gap.start() > reached:
            yield Block(BlockKind.CODE, reached, gap.start())
        reached = gap.end()
    if reached > start and reached < end:
        yield Block(BlockKind.CODE, reached, end)
