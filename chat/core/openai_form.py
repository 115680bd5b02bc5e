"""A request in the form of OpenAI's chat completions, read field by field.

What the product cannot do is refused where leaving it out would change the answer's shape
(tools, several choices, JSON); what an admin sets for each model is named in `notices`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from chat.core.asking import (
    Ask,
    BadAsk,
    Refused,
    clean_text,
    parse_ask,
    parse_uuid,
)
from providers.core.types import ChatMessage, Role

# The messages that a model is told at most, as in a conversation of the page.
MOST_MESSAGES = 200
LONGEST_INSTRUCTIONS = 20_000
KEEP = "keep"
_ADMINS_CHOICE = (
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "seed",
    "stop",
    "reasoning_effort",
)
_SYSTEM = frozenset({"system", "developer"})


@dataclass(frozen=True, slots=True)
class Completion:
    """What a client of this form asked for.

    `model` is a name of the list of models. `adds_footnotes`: the cited sources stand under
    the answer's text as well. `sends_usage`: the stream ends with the tokens.
    """

    ask: Ask
    model: str
    streams: bool = False
    sends_usage: bool = False
    adds_footnotes: bool = False
    notices: tuple[str, ...] = ()


class Unsupported(Refused):
    """A field whose wish cannot be granted here."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__("unsupported_parameter", f"“{name}” {reason}", status=400)


def parse_completion(body: Mapping[str, Any], *, conversation: str = "") -> Completion:
    """The Completion that `body` describes. Raises Refused.

    `conversation` is the header of that name: empty for one that is deleted after a day,
    KEEP for one that stays in the user's list, or the id of the one to go on with.
    """
    _check_possible(body)
    told, wishes = _messages(body.get("messages")), _metadata(body.get("metadata"))
    goes_on = _conversation(conversation)
    question = _question(told)
    ask = parse_ask({**wishes, "text": question.content})
    earlier = [message for message in told[:-1] if message.role in {"user", "assistant"}]
    ask = replace(
        ask,
        conversation=goes_on,
        temporary=not conversation,
        instructions=_instructions(told),
        earlier=() if goes_on else _said(earlier[-MOST_MESSAGES:]),
        title_is_final=not conversation,
        # A client of this form has nobody who could be asked.
        tool_use="auto" if ask.tool_use == "auto" else "never",
    )
    return Completion(
        ask,
        model=_text(body.get("model"), name="model"),
        streams=_flag(body.get("stream"), name="stream"),
        sends_usage=_sends_usage(body.get("stream_options")),
        adds_footnotes=str(wishes.get("footnotes", "")).lower() in {"1", "true"},
        notices=_notices(body, goes_on=goes_on, earlier=len(earlier)),
    )


@dataclass(frozen=True, slots=True)
class _Told:
    role: str
    content: str


def _check_possible(body: Mapping[str, Any]) -> None:
    if body.get("n") not in (None, 1):
        raise Unsupported("n", "must be 1: a question has one answer here.")
    for name in ("tools", "functions"):
        if body.get(name):
            raise Unsupported(name, "are not passed on: the notes are searched by the server.")
    form = body.get("response_format")
    if form is not None and (not isinstance(form, dict) or form.get("type") != "text"):
        raise Unsupported("response_format", "must be text: answers are Markdown with sources.")
    for name in ("logprobs", "audio", "prediction"):
        if body.get(name):
            raise Unsupported(name, "is not given here: leave it out.")


def _messages(value: object) -> list[_Told]:
    if not isinstance(value, list) or not value:
        raise BadAsk("“messages” must be a list that ends with the user's question.")
    return [_message(each, at) for at, each in enumerate(value)]


def _message(value: object, at: int) -> _Told:
    where = f"messages[{at}]"
    if not isinstance(value, dict):
        raise BadAsk(f"“{where}” must be an object with “role” and “content”.")
    role = value.get("role")
    if role not in (*_SYSTEM, "user", "assistant"):
        raise BadAsk(f"“{where}.role” must be system, developer, user or assistant.")
    return _Told(str(role), clean_text(_content(value.get("content"), where)).strip())


def _content(value: object, where: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise BadAsk(f"“{where}.content” must be text, or a list of parts of text.")
    return "\n".join(_part(part, where) for part in value)


def _part(part: object, where: str) -> str:
    if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
        return str(part["text"])
    raise BadAsk(f"“{where}.content” may hold text only: images and files are not read.")


def _question(told: Sequence[_Told]) -> _Told:
    if told[-1].role != "user":
        raise BadAsk("The last of “messages” must be the user's question.")
    return told[-1]


def _instructions(told: Sequence[_Told]) -> str:
    text = "\n\n".join(each.content for each in told if each.role in _SYSTEM and each.content)
    if len(text) > LONGEST_INSTRUCTIONS:
        raise BadAsk(
            f"The system messages have {len(text):,} characters; at most "
            f"{LONGEST_INSTRUCTIONS:,} are read."
        )
    return text


def _said(earlier: Sequence[_Told]) -> tuple[ChatMessage, ...]:
    """Turns as a model takes them: neighbours of one speaker are one message."""
    said: list[ChatMessage] = []
    for each in earlier:
        if not each.content:
            continue
        role: Role = "user" if each.role == "user" else "assistant"
        if said and said[-1].role == role:
            said[-1] = ChatMessage(role, f"{said[-1].content}\n\n{each.content}")
        else:
            said.append(ChatMessage(role, each.content))
    return tuple(said)


def _metadata(value: object) -> dict[str, Any]:
    """Our wishes among a client's own keys: vaults, mode, persona, footnotes."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadAsk("“metadata” must be an object of strings.")
    wishes = {name: value[name] for name in ("mode", "persona", "footnotes") if name in value}
    vaults = value.get("vaults")
    if isinstance(vaults, str):
        vaults = [slug.strip() for slug in vaults.split(",") if slug.strip()] or None
    return {**wishes, "vaults": vaults}


def _conversation(header: str) -> UUID | None:
    if header in {"", KEEP}:
        return None
    try:
        return parse_uuid(header, name="X-Conversation")
    except BadAsk as error:
        raise BadAsk(f"“X-Conversation” must be “{KEEP}”, or the id of a conversation.") from error


def _sends_usage(value: object) -> bool:
    if value is None:
        return False
    if not isinstance(value, dict):
        raise BadAsk("“stream_options” must be an object.")
    return _flag(value.get("include_usage"), name="stream_options.include_usage")


def _notices(body: Mapping[str, Any], *, goes_on: UUID | None, earlier: int) -> tuple[str, ...]:
    notices = []
    if ignored := [name for name in _ADMINS_CHOICE if body.get(name) is not None]:
        notices.append(f"Ignored, because an admin sets it for each model: {', '.join(ignored)}.")
    if goes_on and earlier:
        notices.append("The conversation's own messages were read instead of the earlier ones.")
    elif earlier > MOST_MESSAGES:
        notices.append(f"The oldest messages were left out: {MOST_MESSAGES} are read.")
    return tuple(notices)


def _text(value: object, *, name: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise BadAsk(f"“{name}” must be a name; see /v1/models.")
    return value.strip()


def _flag(value: object, *, name: str) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    raise BadAsk(f"“{name}” must be true or false.")
