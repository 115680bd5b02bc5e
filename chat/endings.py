"""How a run may end, and what its last event says of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from chat.core.events import Event, EventType
from chat.ledger import INTERRUPTED, INTERRUPTED_MEND, Close
from chat.models import Message
from chat.rights import WITHHELD_TEXT
from providers.core.types import Usage
from providers.models import UsageRecord


@dataclass(frozen=True, slots=True)
class Ending:
    """How the writing ended. `type` is the last event's."""

    type: EventType
    status: str
    code: str = ""
    text: str = ""
    mend: str = ""
    usage: Usage = field(default_factory=Usage)


STOPPED = Ending(EventType.STOPPED, Message.Status.STOPPED)
SUSPENDED = Ending(
    EventType.ERROR, Message.Status.STOPPED, "suspended", "This account is not active any more."
)
RIGHTS_LOST = Ending(
    EventType.ERROR,
    Message.Status.STOPPED,
    "rights_changed",
    WITHHELD_TEXT,
    "Ask again: the vaults you may read now will be searched.",
)
RESTARTING = Ending(
    EventType.ERROR,
    Message.Status.INTERRUPTED,
    INTERRUPTED,
    "The answer was interrupted: the server is restarting.",
    INTERRUPTED_MEND,
)
DATABASE_GONE = Ending(
    EventType.ERROR,
    Message.Status.INTERRUPTED,
    "not_saved",
    "The database cannot be reached, so the end of this answer is not saved.",
    "Copy the text if you need it, and ask again later.",
)
BROKEN = Ending(
    EventType.ERROR,
    Message.Status.FAILED,
    "internal",
    "Something went wrong while this answer was written.",
    "Ask again; if it happens once more, tell an admin the time.",
)


def rights_lost_after(seq: int) -> Event:
    """The end of a run for who may not read it any more: nothing is said once more."""
    lost = RIGHTS_LOST
    data = {"code": lost.code, "text": lost.text, "mend": lost.mend, "html": "", "citations": []}
    return Event(seq + 1, lost.type, data)


def last_data(ending: Ending, close: Close, html: str) -> dict[str, Any]:
    if ending.type is EventType.ERROR:
        return {
            "code": ending.code,
            "text": ending.text,
            "mend": ending.mend,
            "html": html,
            "citations": close.citations,
        }
    return {
        "citations": close.citations,
        "usage": close.usage,
        "cut_short": close.cut_short,
        "sources_added": close.sources_added,
        "html": html,
    }


def unsaved(last: Event) -> tuple[EventType, dict[str, Any]]:
    """What is told in place of `last` when it could not be kept."""
    gone = DATABASE_GONE
    data = {"code": gone.code, "text": gone.text, "mend": gone.mend, "html": last.data["html"]}
    return EventType.ERROR, data | {"citations": last.data["citations"]}


def tokens_of(calls: Iterable[UsageRecord], told: Usage) -> dict[str, int]:
    """The tokens of the calls that wrote an answer: one that is stopped was paid for as well.

    What the turn `told` counts where the database was away and no call was recorded.
    """
    recorded = [call for call in calls if call.purpose == "answer"]
    writing: list[UsageRecord] | list[Usage] = recorded or [told]
    return {
        "input_tokens": sum(call.input_tokens for call in writing),
        "output_tokens": sum(call.output_tokens for call in writing),
    }


def call_json(call: UsageRecord) -> dict[str, Any]:
    """A call to a model as its answer keeps it. The cost is in USD, as text."""
    return {
        "purpose": call.purpose,
        "model": call.model,
        "input_tokens": call.input_tokens,
        "output_tokens": call.output_tokens,
        "cost": str(call.cost),
        "milliseconds": call.milliseconds,
        "failed_with": call.failed_with,
    }
