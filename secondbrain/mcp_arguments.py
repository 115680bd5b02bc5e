"""What an agent sends to a tool, read field by field; and what a tool refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# A list of names is a choice, not a document.
_MOST_NAMES = 50


class ToolRefused(Exception):
    """A call that cannot be answered: `str()` says why and what would be right.

    `more` is told beside it, such as the sections that are there.
    """

    def __init__(self, text: str, **more: Any) -> None:
        super().__init__(text)
        self.more = more


def text_of(arguments: Mapping[str, Any], name: str, *, default: str | None = None) -> str:
    """The string `name`. Raises ToolRefused when it is missing or no string."""
    value = arguments.get(name, default)
    if not isinstance(value, str):
        raise ToolRefused(f"“{name}” must be a string.")
    return value.replace("\0", "")


def names_of(arguments: Mapping[str, Any], name: str) -> list[str]:
    """The strings of the list `name`; one string alone is a list of one."""
    value = arguments.get(name)
    if value is None or value == "":
        return []
    listed = value if isinstance(value, list) else [value]
    if len(listed) > _MOST_NAMES or not all(isinstance(each, str) for each in listed):
        raise ToolRefused(f"“{name}” must be a list of at most {_MOST_NAMES} strings.")
    return [each.replace("\0", "") for each in listed]


def flag_of(arguments: Mapping[str, Any], name: str) -> bool:
    """Whether `name` is true; it is not when it is missing."""
    value = arguments.get(name, False)
    if not isinstance(value, bool):
        raise ToolRefused(f"“{name}” must be true or false.")
    return value


def number_of(
    arguments: Mapping[str, Any], name: str, *, default: int, least: int, most: int
) -> int:
    """The whole number `name`, from `least` to `most`."""
    value = arguments.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ToolRefused(f"“{name}” must be a whole number from {least} to {most}.")
    return value
