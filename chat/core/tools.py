"""The tools a model may call while it answers, and what of a call is let through.

They bear the names and the meaning that agents know them by at the door of MCP.

All of them only read. What a call may reach is decided elsewhere, when it is carried out:
here is only asked whether it is a call at all.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from chat.core.asking import clean_text
from providers.core.types import ToolCall, ToolSpec
from retrieval.core.filters import Filter, as_filter, take_filters

SEARCH, READ, SIMILAR = "search", "get_section", "similar_notes"
FILTERS = ("folder", "tag", "after", "before")
LONGEST_TEXT = 400
LONGEST_WHY = 300
MOST_PASSAGES = 8
MOST_PARTS = 1_000


class CallRefused(Exception):
    """A call that is not carried out; `str()` tells the model why and what would be right."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of a tool: a text, or with `most` a whole number from 1 to it."""

    name: str
    description: str
    most: int = 0
    is_required: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        if self.most:
            number = {"type": "integer", "minimum": 1, "maximum": self.most}
            return {**number, "description": self.description}
        return {"type": "string", "description": self.description}

    def read(self, value: object) -> str | int:
        """The value in its own type. Raises CallRefused."""
        return self._number(value) if self.most else self._text(value)

    def _number(self, value: object) -> int:
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= self.most:
            raise CallRefused(f"“{self.name}” must be a whole number from 1 to {self.most}.")
        return value

    def _text(self, value: object) -> str:
        # A place may be named by the number of a passage, which models write as a number.
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if not isinstance(value, str):
            raise CallRefused(f"“{self.name}” must be a text.")
        text = clean_text(value).strip()
        if len(text) > LONGEST_TEXT:
            raise CallRefused(f"“{self.name}” has more than {LONGEST_TEXT} characters.")
        if self.is_required and not text:
            raise CallRefused(f"“{self.name}” is empty.")
        return text


WHY = Parameter("why", "in one short sentence for the reader: what is missing so far")
PLACE = Parameter(
    "note",
    "the number of a passage you were given, such as 3; or the path or title of a note",
    is_required=True,
)


@dataclass(frozen=True, slots=True)
class Tool:
    """What a tool is called, does and takes."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]

    @property
    def spec(self) -> ToolSpec:
        """The tool as a model is told of it."""
        schema = {
            "type": "object",
            "properties": {each.name: each.schema for each in self.parameters},
            "required": [each.name for each in self.parameters if each.is_required],
            "additionalProperties": False,
        }
        return ToolSpec(self.name, self.description, schema)


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool(
            SEARCH,
            "Search the notes again, by words and meaning. Gives numbered passages.",
            (
                Parameter("query", "a question or words of its own", is_required=True),
                Parameter("limit", "how many passages at most", most=MOST_PASSAGES),
                Parameter("folder", "only notes in this folder or below"),
                Parameter("tag", "only notes with this tag"),
                Parameter("after", "only notes of this day or later, such as 2026-01-31"),
                Parameter("before", "only notes of an earlier day, such as 2026-01-31"),
                WHY,
            ),
        ),
        Tool(
            READ,
            "Read one section of a note whole: the one around a passage, or the one under a "
            "heading. Gives one numbered passage; long ones come in parts.",
            (
                PLACE,
                Parameter("heading", "the heading of the section, as the note has it"),
                Parameter("part", "which part of a long section", most=MOST_PARTS),
                WHY,
            ),
        ),
        Tool(
            SIMILAR,
            "Find notes that read like another one. Gives the beginning of each as a passage.",
            (PLACE, WHY),
        ),
    )
}
NAMES = tuple(TOOLS)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A call that may be carried out. `arguments` hold what the tool takes, and no more."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """The argument as a text, "" when it was left out."""
        return str(self.arguments.get(name, ""))

    def number(self, name: str, default: int) -> int:
        return int(self.arguments.get(name, default))

    @property
    def filters(self) -> tuple[Filter, ...]:
        """What a search is narrowed to."""
        typed = [as_filter(name, self.text(name)) for name in FILTERS if self.text(name)]
        return tuple(found for each in typed for found in take_filters(each)[1])

    @property
    def essence(self) -> tuple[object, ...]:
        """What makes it equal to another call, whatever reason is given for it."""
        return (self.tool, *sorted(it for it in self.arguments.items() if it[0] != WHY.name))

    @property
    def what(self) -> str:
        """What is looked for, in one line for the reader."""
        if self.tool == SEARCH:
            narrowed = " ".join(each.raw for each in self.filters)
            return f"{self.text('query')} {narrowed}".strip()
        return " > ".join(filter(None, (self.text("note"), self.text("heading"))))


def read_call(call: ToolCall, *, allowed: Collection[str]) -> Wanted:
    """What `call` asks for. Raises CallRefused.

    A tool that is not allowed is as if it were not there.
    """
    if call.name not in allowed or call.name not in TOOLS:
        names = ", ".join(name for name in NAMES if name in allowed)
        raise CallRefused(f"There is no tool “{clean_text(call.name)[:60]}”. There are: {names}.")
    given = _object(call.arguments)
    parameters = {each.name: each for each in TOOLS[call.name].parameters}
    for name in given:
        if name not in parameters:
            raise CallRefused(
                f"“{call.name}” takes no “{clean_text(name)[:60]}”: it takes "
                f"{', '.join(parameters)}."
            )
    read = {}
    for name, parameter in parameters.items():
        value = given.get(name)
        if value is not None:
            read[name] = parameter.read(value)
        elif parameter.is_required:
            raise CallRefused(f"“{name}” is missing.")
    wanted = Wanted(call.name, {name: value for name, value in read.items() if value != ""})
    _check_filters(wanted)
    return wanted


def _check_filters(wanted: Wanted) -> None:
    for name in FILTERS:
        value = wanted.text(name)
        if value and not take_filters(as_filter(name, value))[1]:
            hint = "a day such as 2026-01-31" if name in ("after", "before") else "a name"
            raise CallRefused(f"“{name}” must be {hint}.")


def _object(text: str) -> dict[str, Any]:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CallRefused("The arguments are not JSON. Send one object.") from error
    if not isinstance(given, dict):
        raise CallRefused("The arguments must be one JSON object.")
    return given
