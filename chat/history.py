"""Turns in the tables: opened with a question, and what the model is told of those before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from chat.continuing import Begun, begun_with, unfinished_answer
from chat.core.asking import Ask, BadAsk, Refused, not_found
from chat.core.branches import branch_through, branch_to
from chat.core.events import RunIds
from chat.core.titles import title_from_question
from chat.ledger import end_abandoned, ids_of
from chat.models import Conversation, Message, Run, RunEvent
from chat.rights import lost_answers
from providers.core.types import ChatMessage
from retrieval.forms import Unreadable, check_vaults

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
    begun: Begun | None = None


def open_turn(user: User, ask: Ask, *, owner_process: str, lease_seconds: float) -> Turn:
    """Keep the question, the empty answer and the run. Raises Refused.

    With `ask.again` the named answer is written anew, beside the old one; with
    `ask.continues` it goes on in a new version, in its own mode. With `ask.edit` the
    question is asked in place of the named one. The new branch is the one shown.
    """
    try:
        with transaction.atomic():
            conversation = _conversation(user, ask)
            end_abandoned(conversation.runs.active().values_list("pk", flat=True))
            _check_number_of_runs(user)
            cut = _unfinished(user, conversation, ask)
            question = (cut.parent if cut else _question_again(conversation, ask)) or _new_question(
                conversation, ask
            )
            before = _said_before(question, lost_answers(user))
            told = [m for m in (*before, cut) if m and m.role == Message.Role.ASSISTANT]
            answer = Message.objects.create(
                conversation=conversation,
                parent=question,
                role=Message.Role.ASSISTANT,
                status=Message.Status.RUNNING,
                told=[str(message.pk) for message in told],
            )
            _drop_old_events(conversation)
            run = Run.objects.create(
                conversation=conversation,
                message=answer,
                owner_process=owner_process,
                lease_until=Now() + timedelta(seconds=lease_seconds),
            )
            conversation.leaf, conversation.left = answer.pk, None
            conversation.save(update_fields=["leaf", "left", "updated"])
    except IntegrityError as error:
        if "run_one_active_in_conversation" in str(error):
            raise Refused("run_active", RUN_ACTIVE) from error
        raise
    return Turn(
        ids=RunIds(run=run.pk, conversation=conversation.pk, message=answer.pk),
        user_id=user.pk,
        user_message=question.pk,
        ask=_in_its_way(ask, cut) if cut else ask,
        question=question.text,
        history=tuple(ChatMessage(_SPEAKERS[m.role], m.text) for m in before),
        vaults=ask.vaults if ask.vaults is not None else _slugs(conversation.vaults),
        title=conversation.title,
        is_first=question.parent_id is None and not conversation.title_is_final,
        begun=begun_with(cut) if cut else None,
    )


def _in_its_way(ask: Ask, cut: Message) -> Ask:
    """An answer goes on in its own mode, and searches on as far as it did unless `ask` says."""
    return replace(ask, mode=cut.mode, tool_use=ask.tool_use or cut.tool_use)


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


def own_answer(user: User, conversation_id: UUID, answer_id: UUID) -> Message:
    """An answer in a conversation of `user`, with its question. Raises Refused."""
    conversation = own_conversation(user, conversation_id)
    answers = conversation.messages.filter(role=Message.Role.ASSISTANT).select_related("parent")
    answer = answers.filter(pk=answer_id).first()
    if answer is None:
        raise not_found()
    return answer


def _check_vaults(user: User, ask: Ask, kept: Sequence[str] | None = None) -> None:
    """The vaults of the question may be read; those that the conversation keeps are known."""
    try:
        check_vaults(user, [slug for slug in ask.vaults or () if slug not in (kept or ())])
    except Unreadable as error:
        raise BadAsk(str(error)) from error


def _conversation(user: User, ask: Ask) -> Conversation:
    if ask.conversation is None:
        if (ask.again, ask.continues, ask.edit) != (None, None, None):
            raise not_found()
        _check_vaults(user, ask)
        begun = Conversation.objects.create(
            owner=user,
            title=title_from_question(ask.text),
            title_is_final=ask.title_is_final,
            vaults=list(ask.vaults) if ask.vaults is not None else None,
            temporary=ask.temporary,
        )
        _keep_earlier(begun, ask.earlier)
        return begun
    conversation = own_conversation(user, ask.conversation, lock=True)
    _check_vaults(user, ask, conversation.vaults)
    if not conversation.title:
        conversation.title = title_from_question(ask.text)
        conversation.save(update_fields=["title"])
    return conversation


def _keep_earlier(conversation: Conversation, earlier: Sequence[ChatMessage]) -> None:
    """The turns that a conversation begins with, each below the one before it."""
    said: Message | None = None
    for message in earlier:
        said = Message.objects.create(
            conversation=conversation, parent=said, role=message.role, text=message.content
        )
    conversation.leaf = said.pk if said else None


def _check_number_of_runs(user: User) -> None:
    running = Run.objects.active().filter(conversation__owner_id=user.pk).count()
    if running >= MOST_RUNS:
        raise Refused(
            "too_many_runs",
            f"{running} of your questions are being answered. Wait for one, or stop one.",
            status=429,
        )


def _unfinished(user: User, conversation: Conversation, ask: Ask) -> Message | None:
    if ask.continues is None:
        return None
    return unfinished_answer(user, conversation, ask.continues)


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
    """The question as a row: after the shown branch, or in the place of an edited one."""
    if ask.edit is None:
        branch = branch_through(parents_of(conversation), conversation.leaf)
        parent = branch[-1] if branch else None
    else:
        edited = conversation.messages.filter(pk=ask.edit, role=Message.Role.USER).first()
        if edited is None:
            raise not_found()
        parent = edited.parent_id
    return Message.objects.create(
        conversation=conversation, parent_id=parent, role=Message.Role.USER, text=ask.text
    )


def parents_of(conversation: Conversation) -> dict[UUID, UUID | None]:
    """Each message's parent, oldest message first."""
    return dict(conversation.messages.values_list("pk", "parent_id"))


def _said_before(question: Message, lost: set[UUID]) -> list[Message]:
    """The branch that leads to `question`, oldest first, without what may not be read now."""
    parents = parents_of(question.conversation)
    before = branch_to(parents, question.pk)[:-1][-MOST_HISTORY:]
    by_id = Message.objects.in_bulk(before)
    return [by_id[pk] for pk in before if by_id[pk].text and pk not in lost]


def _drop_old_events(conversation: Conversation) -> None:
    """Events serve those who follow a run; a while after its end the message is enough."""
    RunEvent.objects.filter(
        run__conversation=conversation,
        run__state=Run.State.ENDED,
        created__lt=Now() - timedelta(minutes=10),
    ).delete()


def _slugs(vaults: Sequence[str] | None) -> tuple[str, ...] | None:
    return tuple(vaults) if vaults is not None else None
