"""A conversation as its reader sees it: every message, the branch shown, what is withheld."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User

from chat.abstaining import nearest_json
from chat.core.branches import branch_through
from chat.core.citations import judgements
from chat.core.events import said_text
from chat.core.marks import without_invented
from chat.core.rendering import render_answer
from chat.ledger import end_abandoned, read_events
from chat.models import Conversation, Message, Run
from chat.rights import RIGHTS_CHANGED, WITHHELD_TEXT, is_open, lost_answers
from chat.sources import passage_json, quotable
from chat.steps import step_json
from vault.access import scope_for
from vault.core.types import Scope


def thread(
    conversation: Conversation, user: User, *, at: UUID | None = None
) -> list[dict[str, Any]]:
    """The messages of a conversation as a page or an API shows them, oldest first.

    Those of the branch that is shown are `active`: the branch through `at`, else the one
    that was chosen last. Other answers are `replaced`. Sources that `user` may
    not read any more are named by number only; an answer that rests on one is `withheld`.
    """
    end_abandoned(conversation.runs.active().values_list("pk", flat=True))
    messages = list(
        conversation.messages.select_related("run").prefetch_related("sources__vault", "steps")
    )
    readable = scope_for(user)
    lost = lost_answers(user)
    parents = {message.pk: message.parent_id for message in messages}
    active = set(branch_through(parents, at if at in parents else conversation.leaf))
    nearest = nearest_json(messages, readable)
    shown = []
    for message in messages:
        data = message_json(message, readable, is_lost=message.pk in lost)
        data["active"] = message.pk in active
        if message.pk not in lost:
            data["nearest"] = nearest.get(message.pk, [])
        data["replaced"] = message.role == Message.Role.ASSISTANT and not data["active"]
        shown.append(data)
    return shown


def message_json(message: Message, readable: Scope, *, is_lost: bool) -> dict[str, Any]:
    """One message as thread() has it, less `active` and `replaced`."""
    data: dict[str, Any] = {
        "id": str(message.pk),
        "parent": str(message.parent_id) if message.parent_id else None,
        "role": message.role,
        "text": message.text,
        "status": message.status,
        "created": message.created.isoformat(),
    }
    if message.role == Message.Role.USER:
        return data
    sources = [source for source in message.sources.all() if is_open(source, readable)]
    text, run = message.text, getattr(message, "run", None)
    if message.status == Message.Status.RUNNING and run is not None:
        text, data["seq"] = _text_so_far(run)
        data["run"] = str(run.pk)
    judged = judgements(message.citations)
    rendered = render_answer(text, [quotable(source) for source in sources], judged)
    numbers = {source.number for source in message.sources.all()}
    data |= {
        "text": without_invented(text, numbers=numbers),
        "withheld": False,
        "html": rendered.html,
        "mode": message.mode,
        "model": message.model_label,
        "persona": message.persona_name,
        "error": {
            "code": message.error_code,
            "text": message.error,
            "mend": message.error_mend,
        },
        "cut_short": message.cut_short,
        "sources_added": message.sources_added,
        "usage": message.usage,
        "calls": message.calls,
        "notices": message.notices,
        "citations": [citation.as_json() for citation in rendered.citations],
        "sources": [passage_json(source, readable) for source in sources],
        "hidden_sources": _hidden(message, readable),
        "retrieval_run": message.retrieval_run_id,
        "tool_use": message.tool_use,
        "steps": [step_json(step) for step in message.steps.all()],
    }
    return _withheld(data) if is_lost else data


def _withheld(data: dict[str, Any]) -> dict[str, Any]:
    """An answer less all that tells what stands in a vault its reader may not read now."""
    is_running = data["status"] == Message.Status.RUNNING
    kept = {name: value for name, value in data.items() if name not in ("run", "seq")}
    return kept | {
        "withheld": True,
        "status": Message.Status.STOPPED if is_running else data["status"],
        "text": "",
        "html": "",
        "error": {"code": RIGHTS_CHANGED, "text": WITHHELD_TEXT, "mend": ""},
        "notices": [],
        "citations": [],
        "retrieval_run": None,
        "steps": [],
    }


def _hidden(message: Message, readable: Scope) -> list[int]:
    return [s.number for s in message.sources.all() if not is_open(s, readable)]


def _text_so_far(run: Run) -> tuple[str, int]:
    events = read_events(run.pk, after=0)
    return said_text(events), events[-1].seq if events else 0
