"""Prompt presets: a text with `{{variables}}` in it, and what becomes of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

# `{{who}}`, or `{{who=everybody}}` with what stands in the field at first.
_VARIABLE = re.compile(r"\{\{\s*(?P<name>[^\W\d_][\w -]{0,39}?)\s*(?:=(?P<default>[^{}]*))?\}\}")
MOST_VARIABLES = 12
# Filled in without being asked for: today's date, and what is marked on the page.
KNOWN = ("date", "selection")


@dataclass(frozen=True, slots=True)
class Variable:
    """A gap in a preset. `default` is what it holds when nothing is typed."""

    name: str
    default: str = ""

    @property
    def is_known(self) -> bool:
        return self.name in KNOWN


def variables_of(text: str) -> tuple[Variable, ...]:
    """The gaps of `text` in order, each name once; the first default of a name counts."""
    found: dict[str, str] = {}
    for match in _VARIABLE.finditer(text):
        name, default = _name(match), (match["default"] or "").strip()
        found[name] = found.get(name) or default
    return tuple(Variable(name, default) for name, default in found.items())


def fill_in(text: str, values: Mapping[str, str]) -> str:
    """`text` with its gaps filled; what `values` lacks takes its default.

    Values are taken as they are: a `{{name}}` inside one stays what was typed.
    """
    defaults = {variable.name: variable.default for variable in variables_of(text)}

    def value(match: re.Match[str]) -> str:
        name = _name(match)
        return values.get(name) or defaults[name]

    return _VARIABLE.sub(value, text).strip()


def _name(match: re.Match[str]) -> str:
    return " ".join(match["name"].split()).lower()
