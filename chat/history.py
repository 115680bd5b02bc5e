"""Turns in the tables: opened with a question, read back as history and as a thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from chat.core.asking import Ask, Refused, not_found
from chat.core.events import RunIds, said_text
from chat.core.rendering import render_answer
from chat.core.titles import title_from_question
from chat.ledger import end_abandoned, ids_of, read_events
from chat.models import Conversation, Message, Run, RunEvent
from chat.rights import RIGHTS_CHANGED, WITHHELD_TEXT, lost_answers
from chat.sources import passage_json, quotable
from providers.core.types import ChatMessage
from vault.access import visible_to

# One person's questions must not take every model's queue.
MOST_RUNS = 5
MOST_HISTORY = 200
_SPEAKERS: dict[str, Literal["user", "assistant"]] = {
    Message.Role.USER: "user",
    Message.Role.ASSISTANT: "assistant",
}
RUN_ACTIVE = "An answer is being written in this conversation. Wait for it, or stop it."


@dataclass(frozen=True, slots=True)
class Turn:
    """A question that is being answered."""

    ids: RunIds
    user_id: int
    user_message: UUID
    ask: Ask
    question: str
    history: tuple[ChatMessage, ...]
    vaults: tuple[str, ...] | None
    title: str
    is_first: bool


def open_turn(user: User, ask: Ask, *, owner_process: str, lease_seconds: float) -> Turn:
    """Keep the question, the empty answer and the run. Raises Refused.

    With `ask.again` the named answer is written anew, beside the old one.
    """
    try:
        with transaction.atomic():
            conversation = _conversation(user, ask)
            end_abandoned(conversation.runs.active().values_list("pk", flat=True))
            _check_number_of_runs(user)
            question = _question_again(conversation, ask) or _new_question(conversation, ask)
            before = _said_before(question, lost_answers(user))
            answer = Message.objects.create(
                conversation=conversation,
                parent=question,
                role=Message.Role.ASSISTANT,
                status=Message.Status.RUNNING,
                told=[str(m.pk) for m in before if m.role == Message.Role.ASSISTANT],
            )
            _drop_old_events(conversation)
            run = Run.objects.create(
                conversation=conversation,
                message=answer,
                owner_process=owner_process,
                lease_until=Now() + timedelta(seconds=lease_seconds),
            )
            conversation.save(update_fields=["updated"])
    except IntegrityError as error:
        if "run_one_active_in_conversation" in str(error):
            raise Refused("run_active", RUN_ACTIVE) from error
        raise
    return Turn(
        ids=RunIds(run=run.pk, conversation=conversation.pk, message=answer.pk),
        user_id=user.pk,
        user_message=question.pk,
        ask=ask,
        question=question.text,
        history=tuple(ChatMessage(_SPEAKERS[m.role], m.text) for m in before),
        vaults=ask.vaults if ask.vaults is not None else _slugs(conversation.vaults),
        title=conversation.title,
        is_first=question.parent_id is None and not conversation.title_is_final,
    )


def own_conversation(user: User, conversation_id: UUID, *, lock: bool = False) -> Conversation:
    """The conversation of `user`. Raises Refused, alike for missing and foreign ones."""
    owned = Conversation.objects.owned_by(user).filter(pk=conversation_id)
    conversation = (owned.select_for_update() if lock else owned).first()
    if conversation is None:
        raise not_found()
    return conversation


def own_run(user: User, run_id: UUID) -> Run:
    """A run in a conversation of `user`. Raises Refused, alike for missing and foreign."""
    owned = Conversation.objects.owned_by(user)
    run = Run.objects.filter(pk=run_id, conversation__in=owned).select_related("message").first()
    if run is None:
        raise not_found()
    return run


def own_message_run(user: User, conversation_id: UUID, message_id: UUID) -> RunIds:
    """The run that wrote an answer in a conversation of `user`. Raises Refused."""
    conversation = own_conversation(user, conversation_id)
    run = conversation.runs.filter(message_id=message_id).first()
    if run is None:
        raise not_found()
    return ids_of(run)


def thread(conversation: Conversation, user: User) -> list[dict[str, Any]]:
    """The messages of a conversation as a page or an API shows them, oldest first.

    An answer that was asked for again is marked `replaced`. Sources of a vault that `user`
    may not read any more are named by number only; an answer that rests on one is `withheld`.
    """
    end_abandoned(conversation.runs.active().values_list("pk", flat=True))
    messages = list(conversation.messages.select_related("run").prefetch_related("sources__vault"))
    readable = set(visible_to(user).values_list("pk", flat=True))
    lost = lost_answers(user)
    newest = {m.parent_id: m.pk for m in messages if m.role == Message.Role.ASSISTANT}
    shown = []
    for message in messages:
        data = _message_json(message, readable, is_lost=message.pk in lost)
        is_answer = message.role == Message.Role.ASSISTANT
        data["replaced"] = is_answer and newest[message.parent_id] != message.pk
        shown.append(data)
    return shown


def _message_json(message: Message, readable: set[int], *, is_lost: bool) -> dict[str, Any]:
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
    sources = [source for source in message.sources.all() if source.vault_id in readable]
    text, run = message.text, getattr(message, "run", None)
    if message.status == Message.Status.RUNNING and run is not None:
        text, data["seq"] = _text_so_far(run)
        data["run"] = str(run.pk)
    rendered = render_answer(text, [quotable(source) for source in sources])
    data |= {
        "text": text,
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
        "usage": message.usage,
        "notices": message.notices,
        "citations": [citation.as_json() for citation in rendered.citations],
        "sources": [passage_json(source) for source in sources],
        "hidden_sources": _hidden(message, readable),
        "retrieval_run": message.retrieval_run_id,
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
    }


def _hidden(message: Message, readable: set[int]) -> list[int]:
    return [s.number for s in message.sources.all() if s.vault_id not in readable]


def _text_so_far(run: Run) -> tuple[str, int]:
    events = read_events(run.pk, after=0)
    return said_text(events), events[-1].seq if events else 0


def _conversation(user: User, ask: Ask) -> Conversation:
    if ask.conversation is None:
        if ask.again is not None:
            raise not_found()
        return Conversation.objects.create(
            owner=user,
            title=title_from_question(ask.text),
            vaults=list(ask.vaults) if ask.vaults is not None else None,
        )
    conversation = own_conversation(user, ask.conversation, lock=True)
    if not conversation.title:
        conversation.title = title_from_question(ask.text)
        conversation.save(update_fields=["title"])
    return conversation


def _check_number_of_runs(user: User) -> None:
    running = Run.objects.active().filter(conversation__owner_id=user.pk).count()
    if running >= MOST_RUNS:
        raise Refused(
            "too_many_runs",
            f"{running} of your questions are being answered. Wait for one, or stop one.",
            status=429,
        )


def _question_again(conversation: Conversation, ask: Ask) -> Message | None:
    if ask.again is None:
        return None
    answer = (
        conversation.messages.filter(pk=ask.again, role=Message.Role.ASSISTANT)
        .select_related("parent")
        .first()
    )
    if answer is None or answer.parent is None:
        raise not_found()
    return answer.parent


def _new_question(conversation: Conversation, ask: Ask) -> Message:
    return Message.objects.create(
        conversation=conversation,
        parent=conversation.messages.last(),
        role=Message.Role.USER,
        text=ask.text,
    )


def _said_before(question: Message, lost: set[UUID]) -> list[Message]:
    """The branch that leads to `question`, oldest first, without what may not be read now."""
    by_id = {m.pk: m for m in question.conversation.messages.all()}
    said: list[Message] = []
    at = question.parent_id
    while at is not None and len(said) < MOST_HISTORY:
        message = by_id[at]
        if message.text and message.pk not in lost:
            said.append(message)
        at = message.parent_id
    return said[::-1]


def _drop_old_events(conversation: Conversation) -> None:
    """Events serve those who follow a run; a while after its end the message is enough."""
    RunEvent.objects.filter(
        run__conversation=conversation,
        run__state=Run.State.ENDED,
        created__lt=Now() - timedelta(minutes=10),
    ).delete()


def _slugs(vaults: Sequence[str] | None) -> tuple[str, ...] | None:
    return tuple(vaults) if vaults is not None else None
