"""A persona in a file of `.claude/agents`: front matter about it, then what it is told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from chat.core.asking import TOOL_USES
from chat.core.tools import NAMES
from vault.core.front_matter import read_front_matter
from vault.core.settings_json import SettingsProblem

LONGEST_NAME = 100
LONGEST_ROLE = 200
LONGEST_PROMPT = 20_000
# As other programs call a model when they mean "whatever the conversation has".
_ANY_MODEL = frozenset({"", "inherit", "default"})
LONGEST_REASON = 300
_NO_BODY = SettingsProblem(
    "It has no text below its properties, so it is no persona.",
    "Write below the closing --- what the model is to be told, or delete the file.",
)
_TOO_LONG = SettingsProblem(
    f"It has more than {LONGEST_PROMPT:,} characters: what stands after them is told to no model.",
    "Make it shorter.",
)
_MEND_PROPERTIES = "Mend them: what could not be read, such as the role, does not hold."
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


def faults_in(text: str, *, path: str) -> tuple[SettingsProblem, ...]:
    """What of the persona in `text` does not hold, as far as the file alone tells."""
    persona = parse_persona(text, path=path)
    if persona is None:
        return (_NO_BODY,)
    front = read_front_matter(text)
    faults = [
        SettingsProblem(f"Properties of a persona: {reason}.", _MEND_PROPERTIES, line)
        for reason, line in front.warnings
    ]
    said = {key.strip().lower(): value for key, value in front.properties.items()}
    unknown = [name for name in persona.tools or () if name not in NAMES]
    if unknown:
        reason = f"It may use tools that there are none of: {', '.join(unknown)}."
        mend = f"Take them out of “tools”. There are: {', '.join(NAMES)}."
        faults.append(SettingsProblem(reason[:LONGEST_REASON], mend, line_of(text, "tools")))
    permission = _line(said, "tool_use").lower()
    if permission and permission not in TOOL_USES:
        reason = f"“tool_use” is “{permission}”, so it sets no limit."
        mend = f"Write one of {', '.join(TOOL_USES)}."
        faults.append(SettingsProblem(reason[:LONGEST_REASON], mend, line_of(text, "tool_use")))
    if len(text[front.body_start :].strip()) > LONGEST_PROMPT:
        faults.append(_TOO_LONG)
    return tuple(faults)


def line_of(text: str, key: str) -> int | None:
    """The line, from 1, on which the front matter has `key`."""
    last = read_front_matter(text).body_line
    lines = enumerate(text.splitlines()[:last], start=1)
    return next((nth for nth, line in lines if _is_key(line, key)), None)


def _is_key(line: str, key: str) -> bool:
    return line.partition(":")[0].strip().strip("\"'").lower() == key


def _line(said: Mapping[str, Any], key: str) -> str:
    value = said.get(key)
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""


def _names(value: object) -> tuple[str, ...]:
    """Names written as a list, or in one text with commas between them."""
    items = value if isinstance(value, list) else _BETWEEN.split(str(value or ""))
    return tuple(dict.fromkeys(name for item in items if (name := str(item).strip())))
