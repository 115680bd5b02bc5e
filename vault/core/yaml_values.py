"""YAML of a note's properties, read event by event, under limits.

Values follow YAML 1.2's core schema, which is what people who write notes mean: `No`,
`12:30`, `01234` and `1_000` are text. Nothing is ever constructed but JSON values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

import yaml

_MOST_NODES = 10_000
_MOST_DEPTH = 32
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False}
_BOOLEANS["FALSE"] = False
# Integers that a double keeps exactly; longer ones are numbers of things, kept as text.
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,14})")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_DATE = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]+\d\d:\d\d(:\d\d(\.\d+)?)?([ ]*(Z|[-+]\d\d(:?\d\d)?))?")


class NotReadable(ValueError):
    """YAML that was refused, with the line of it (from 0) where reading ended."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value as written. `is_plain` is false for quoted and block text."""

    text: str
    is_plain: bool
    line: int


@dataclass(frozen=True, slots=True)
class Mapping:
    pairs: tuple[tuple[Scalar, Node], ...]


@dataclass(frozen=True, slots=True)
class Sequence:
    items: tuple[Node, ...]


Node = Scalar | Mapping | Sequence
Warning_ = tuple[str, int]


def read_yaml(text: str) -> tuple[Node | None, list[Warning_]]:
    """Node tree of the only document, None when it is empty, and warnings with lines from 0.

    Raises NotReadable for everything else: syntax, aliases, more than 10,000 nodes, more
    than 32 levels. A mapping used as a key, as an unfilled `{{placeholder}}` is, becomes
    the text it was written as.
    """
    reader = _Reader(text)
    try:
        return reader.read(), reader.warnings
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise NotReadable(str(error.problem or error.context), mark.line if mark else 0) from error
    except (yaml.YAMLError, UnicodeError) as error:
        raise NotReadable("characters that YAML does not allow", 0) from error


@dataclass(slots=True)
class _Reader:
    text: str
    warnings: list[Warning_] = field(default_factory=list)
    nodes: int = 0

    def read(self) -> Node | None:
        events = iter(yaml.parse(self.text, Loader=yaml.CSafeLoader))
        for event in events:
            if isinstance(event, yaml.NodeEvent):
                return self._node(event, events, 0)
        return None

    def _node(self, event: Any, events: Iterator[Any], depth: int) -> Node:
        self.nodes += 1
        line = event.start_mark.line
        if isinstance(event, yaml.AliasEvent):
            raise NotReadable("aliases (*name) are not read", line)
        if self.nodes > _MOST_NODES or depth > _MOST_DEPTH:
            raise NotReadable("too many values, or nested too deeply", line)
        if isinstance(event, yaml.ScalarEvent):
            is_plain = event.style is None or event.style == ""
            return Scalar(event.value, is_plain, line)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(events, depth)
        return self._mapping(event, events, depth)

    def _sequence(self, events: Iterator[Any], depth: int) -> Sequence:
        items: list[Node] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            items.append(self._node(event, events, depth + 1))
        return Sequence(tuple(items))

    def _mapping(self, start: Any, events: Iterator[Any], depth: int) -> Node:
        pairs: dict[str, tuple[Scalar, Node]] = {}
        complex_line: int | None = None
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                if complex_line is None:
                    return Mapping(tuple(pairs.values()))
                self.warnings.append(("a list or mapping used as a key", complex_line))
                written = self._source(start.start_mark, event.end_mark)
                return Scalar(written, is_plain=False, line=start.start_mark.line)
            key = self._node(event, events, depth + 1)
            value = self._node(next(events), events, depth + 1)
            if not isinstance(key, Scalar):
                complex_line = event.start_mark.line
                continue
            if key.text in pairs:
                self.warnings.append(
                    (f"“{key.text}” is given twice; the last one counts", key.line)
                )
                del pairs[key.text]
            pairs[key.text] = (key, value)
        raise NotReadable("the mapping does not end", start.start_mark.line)

    def _source(self, start: Any, end: Any) -> str:
        lines = self.text.split("\n")[start.line : end.line + 1]
        if not lines:
            return ""
        lines[-1] = lines[-1][: end.column]
        lines[0] = lines[0][start.column :]
        return "\n".join(lines).strip()


def as_json(node: Node, warnings: list[Warning_]) -> Any:
    """The value of a node as JSON can hold it: finite numbers, dates as ISO text."""
    if isinstance(node, Scalar):
        return _scalar_value(node, warnings) if node.is_plain else node.text
    if isinstance(node, Sequence):
        return [as_json(item, warnings) for item in node.items]
    return {key.text: as_json(value, warnings) for key, value in node.pairs}


def as_texts(node: Node) -> list[Scalar]:
    """Every text in a node, lists flattened, as it was written; null gives none."""
    if isinstance(node, Scalar):
        return [] if node.is_plain and node.text in _NULLS else [node]
    if isinstance(node, Sequence):
        return [text for item in node.items for text in as_texts(item)]
    if len(node.pairs) == 1:
        (key, value) = node.pairs[0]
        if isinstance(value, Scalar):
            return [Scalar(f"{key.text}: {value.text}", is_plain=False, line=key.line)]
    return []


def _scalar_value(scalar: Scalar, warnings: list[Warning_]) -> Any:
    text = scalar.text
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and not re.match(r"[-+]?0\d", text):
        number = float(text)
        is_exact = math.isfinite(number) and ("." in text or "e" in text.lower())
        return number if is_exact else text
    if _DATE.fullmatch(text) or _MOMENT.fullmatch(text):
        return _iso(scalar, warnings)
    return text


def _iso(scalar: Scalar, warnings: list[Warning_]) -> str:
    try:
        match = _DATE.fullmatch(scalar.text)
        if match:
            return date(int(match[1]), int(match[2]), int(match[3])).isoformat()
        written = re.sub(r"[Tt ]+(?=\d)", "T", scalar.text, count=1).replace(" ", "")
        return datetime.fromisoformat(written).isoformat()
    except ValueError as error:
        warnings.append((f"“{scalar.text}” is not a date: {error}", scalar.line))
        return scalar.text


def texts_in(value: object) -> Iterator[str]:
    """Every text among the values of properties, in order, however deep."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack.extend(reversed(list(item.values())))
        elif isinstance(item, list):
            stack.extend(reversed(item))
