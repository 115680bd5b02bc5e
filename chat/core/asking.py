"""A question as it comes in by socket or REST, checked before anything is done with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from providers.core.types import ChatMessage
from retrieval.core.keys import fault_of_keys

MODES = ("notes_only", "notes_first", "no_notes")
TOOL_USES = ("never", "ask", "auto")
# What a question is read from.
ASK_KEYS = (
    "id", "text", "conversation", "mode", "vaults", "model", "persona", "tool_use", "again",
    "continue", "edit", "temporary",
)  # fmt: skip
# About 5,000 tokens: a question, not a document to be read.
LONGEST_QUESTION = 20_000
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class Refused(Exception):
    """A command that is not carried out: nothing was changed. `str()` says why."""

    def __init__(self, code: str, text: str, *, status: int = 409) -> None:
        super().__init__(text)
        self.code = code
        self.status = status


class BadAsk(Refused):
    """The frame or body cannot be understood: says which field and how to mend it."""

    def __init__(self, text: str) -> None:
        super().__init__("bad_request", text, status=400)


def not_found() -> Refused:
    """The same words for what is missing and for what belongs to somebody else."""
    return Refused("not_found", "There is no such conversation or answer.", status=404)


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to answer. None means: not chosen here, use the settings.

    `again` names an answer that is to be written anew, in place of a new question;
    `continues` one that ended early and is to go on. `edit` names a question that this one
    is asked in place of. `temporary` begins a conversation that is kept for a day; with
    `title_is_final` no model is asked to name it. `earlier` are the turns that it begins
    with, and `instructions` what the model is told besides its own prompt.
    """

    text: str = ""
    conversation: UUID | None = None
    mode: str | None = None
    vaults: tuple[str, ...] | None = None
    model: int | None = None
    persona: int | None = None
    tool_use: str | None = None
    again: UUID | None = None
    continues: UUID | None = None
    edit: UUID | None = None
    temporary: bool = False
    client_id: str = ""
    instructions: str = ""
    earlier: tuple[ChatMessage, ...] = ()
    title_is_final: bool = False


def parse_ask(data: Mapping[str, Any]) -> Ask:
    """The Ask that `data` describes. Raises BadAsk."""
    again = parse_uuid(data.get("again"), name="again")
    continues = parse_uuid(data.get("continue"), name="continue")
    if again and continues:
        raise BadAsk("“again” and “continue” exclude each other: send one of them.")
    has_question = not (again or continues)
    return Ask(
        text=_question(data.get("text")) if has_question else "",
        conversation=parse_uuid(data.get("conversation"), name="conversation"),
        mode=_mode(data.get("mode")),
        vaults=_slugs(data.get("vaults")),
        model=_number(data.get("model"), name="model"),
        persona=_number(data.get("persona"), name="persona"),
        tool_use=_tool_use(data.get("tool_use")),
        again=again,
        continues=continues,
        edit=parse_uuid(data.get("edit"), name="edit") if has_question else None,
        temporary=_flag(data.get("temporary"), name="temporary"),
        client_id=_client_id(data.get("id")),
    )


def check_keys(sent: Iterable[str], *, known: Iterable[str]) -> None:
    """Raise BadAsk for a key that nothing would be done with, naming those that are read."""
    if fault := fault_of_keys(sent, known=known):
        raise BadAsk(fault)


def parse_uuid(value: object, *, name: str) -> UUID | None:
    """The UUID written in `value`, None for none. Raises BadAsk."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        try:
            return UUID(value)
        except ValueError:
            pass
    raise BadAsk(f"“{name}” must be a UUID or null.")


def parse_seq(value: object, *, name: str = "after") -> int:
    """The event number in `value`, 0 for none. Raises BadAsk."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BadAsk(f"“{name}” must be the number of an event, from 0.")
    return value


def clean_text(text: str) -> str:
    """`text` without what no table can hold: NUL and lone surrogates."""
    return _UNSTORABLE.sub("", text)


def clean_answer(text: str) -> str:
    """A model's words without what no table can hold, and with LF line ends."""
    return clean_text(text).replace("\r", "")


def _question(value: object) -> str:
    if not isinstance(value, str):
        raise BadAsk("“text” must be the question as a string.")
    text = clean_text(value).strip()
    if not text:
        raise BadAsk("The question is empty: write what you want to know.")
    if len(text) > LONGEST_QUESTION:
        raise BadAsk(
            f"The question has {len(text):,} characters; at most {LONGEST_QUESTION:,} are "
            "read. Shorten it, or put the long text into a note."
        )
    return text


def _mode(value: object) -> str | None:
    if value is None or value == "":
        return None
    if value not in MODES:
        raise BadAsk(f"“mode” must be one of {', '.join(MODES)}, or null.")
    return str(value)


def _tool_use(value: object) -> str | None:
    if value is None or value == "":
        return None
    if value not in TOOL_USES:
        raise BadAsk(f"“tool_use” must be one of {', '.join(TOOL_USES)}, or null.")
    return str(value)


def _slugs(value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(slug, str) for slug in value):
        raise BadAsk("“vaults” must be a list of vault slugs, or null for all of them.")
    return tuple(dict.fromkeys(clean_text(slug) for slug in value))


def _number(value: object, *, name: str) -> int | None:
    if value is None or value == "":
        return None
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise BadAsk(f"“{name}” must be the number of a {name}, or null.")
    return value


def _flag(value: object, *, name: str) -> bool:
    """A form sends words, a script true or false."""
    flags: dict[object, bool] = {None: False, "": False, "0": False, "1": True}
    if isinstance(value, bool):
        return value
    if not isinstance(value, str | None) or value not in flags:
        raise BadAsk(f"“{name}” must be true or false.")
    return flags[value]


def _client_id(value: object) -> str:
    return clean_text(value)[:100] if isinstance(value, str) else ""
