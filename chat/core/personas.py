"""A persona in a file of `.claude/agents`: front matter about it, then what it is told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from chat.core.asking import TOOL_USES
from vault.core.front_matter import read_front_matter

LONGEST_NAME = 100
LONGEST_ROLE = 200
LONGEST_PROMPT = 20_000
# As other programs call a model when they mean "whatever the conversation has".
_ANY_MODEL = frozenset({"", "inherit", "default"})
_BETWEEN = re.compile(r"[,\n]+")


@dataclass(frozen=True, slots=True)
class ParsedPersona:
    """What a file says. `tools` None: all that are allowed; `model` "": the conversation's.

    `vaults` are slugs to search beside the file's own vault; `tool_use` "": further searches
    go as far as others let them.
    """

    name: str
    role: str
    prompt: str
    model: str = ""
    tools: tuple[str, ...] | None = None
    vaults: tuple[str, ...] = ()
    tool_use: str = ""


def parse_persona(text: str, *, path: str) -> ParsedPersona | None:
    """The persona in `text`; None when it has no body, as then there is nothing to tell.

    Without a name in the front matter the file's is taken.
    """
    front = read_front_matter(text)
    prompt = text[front.body_start :].strip()
    if not prompt:
        return None
    said = {key.strip().lower(): value for key, value in front.properties.items()}
    model = _line(said, "model")
    return ParsedPersona(
        name=(_line(said, "name") or PurePosixPath(path).stem)[:LONGEST_NAME],
        role=(_line(said, "role") or _line(said, "description"))[:LONGEST_ROLE],
        prompt=prompt[:LONGEST_PROMPT],
        model="" if model.lower() in _ANY_MODEL else model,
        tools=_names(said["tools"]) if "tools" in said else None,
        vaults=_names(said.get("vaults")),
        tool_use=tool_use if (tool_use := _line(said, "tool_use").lower()) in TOOL_USES else "",
    )


def _line(said: Mapping[str, Any], key: str) -> str:
    value = said.get(key)
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


def _names(value: object) -> tuple[str, ...]:
    """Names written as a list, or in one text with commas between them."""
    items = value if isinstance(value, list) else _BETWEEN.split(str(value or ""))
    return tuple(dict.fromkeys(name for item in items if (name := str(item).strip())))
