"""What somebody wants to share, and with whom, checked before anything is looked up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from chat.core.asking import BadAsk, clean_text, parse_uuid

AUDIENCES = ("signed_in", "named", "readers")
DAYS = (1, 7, 30, 90)
DEFAULT_DAYS = 30
MOST_DAYS = 365
MOST_NAMES = 50


@dataclass(frozen=True, slots=True)
class ShareWish:
    """`message` is the last one that is shown; None: the end of the branch shown now.

    `names` are e-mail addresses and names of groups, for the audience "named" alone.
    """

    message: UUID | None = None
    only_answer: bool = False
    audience: str = "signed_in"
    names: tuple[str, ...] = ()
    days: int = DEFAULT_DAYS


def parse_share(data: Mapping[str, Any]) -> ShareWish:
    """The wish that a form or a body describes. Raises BadAsk."""
    audience = data.get("audience") or "signed_in"
    if audience not in AUDIENCES:
        raise BadAsk(f"“audience” must be one of {', '.join(AUDIENCES)}.")
    names = _names(data.get("names"))
    if names and audience != "named":
        raise BadAsk(
            "People or groups are named, and somebody else was chosen: choose those that are "
            "named, or leave the names out."
        )
    if audience == "named" and not names:
        raise BadAsk("Name at least one person by e-mail, or one group.")
    return ShareWish(
        message=parse_uuid(data.get("message"), name="message"),
        only_answer=_only_answer(data.get("only_answer")),
        audience=audience,
        names=names,
        days=_days(data.get("days")),
    )


def _only_answer(value: object) -> bool:
    word = value.lower() if isinstance(value, str) else value
    if word is True or word in ("1", "true", "on"):
        return True
    if word is None or word is False or word in ("", "0", "false", "off"):
        return False
    raise BadAsk("“only_answer” must be true or false: whether one answer is shared, not all.")


def _names(value: object) -> tuple[str, ...]:
    given = re.split(r"[,;\n]", value) if isinstance(value, str) else value
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise BadAsk("“names” must be a list of e-mail addresses and names of groups.")
    names = tuple(dict.fromkeys(filter(None, (clean_text(name).strip() for name in given))))
    if len(names) > MOST_NAMES:
        raise BadAsk(f"At most {MOST_NAMES} people and groups can be named; make a group of them.")
    return names


def _days(value: object) -> int:
    if value is None or value == "":
        return DEFAULT_DAYS
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 5:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_DAYS:
        raise BadAsk(f"A link lasts from 1 to {MOST_DAYS} days.")
    return value
