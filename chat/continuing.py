"""An answer that ended early goes on, as a new version that begins with its text."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from chat.core.asking import Refused, not_found
from chat.models import Conversation, Message, Source, Step
from chat.rights import check_sources

_ENDED_EARLY = (Message.Status.STOPPED, Message.Status.INTERRUPTED, Message.Status.FAILED)


@dataclass(frozen=True, slots=True)
class Begun:
    """The beginning of an answer: written as message `message`, for `usage` tokens.

    `tool_use` is how far its model might search on, `steps` how many steps it took, and
    `was_refused` whether the reader refused one.
    """

    message: UUID
    text: str
    usage: dict[str, int]
    tool_use: str
    steps: int
    was_refused: bool

    @property
    def notice(self) -> str:
        """What the reader is told of it."""
        return _("This goes on from an answer that ended early. Its text and sources were kept.")


def can_continue(status: str, text: str, *, cut_short: bool) -> bool:
    """Whether an answer ended before its end, with something to go on from."""
    return bool(text.strip()) and (cut_short or status in _ENDED_EARLY)


def unfinished_answer(user: User, conversation: Conversation, message_id: UUID) -> Message:
    """An answer that ended early, with its question. Raises Refused."""
    answers = conversation.messages.filter(role=Message.Role.ASSISTANT, parent__isnull=False)
    answer = answers.filter(pk=message_id).select_related("parent").first()
    if answer is None:
        raise not_found()
    check_sources(user, answer.pk)
    if not can_continue(answer.status, answer.text, cut_short=answer.cut_short):
        raise Refused("not_cut", _("This answer is whole: there is nothing to go on from."))
    return answer


def begun_with(answer: Message) -> Begun:
    """`answer` as the beginning of one that goes on from it."""
    decisions = list(answer.steps.values_list("decision", flat=True))
    return Begun(
        message=answer.pk,
        text=answer.text,
        usage=answer.usage,
        tool_use=answer.tool_use,
        steps=len(decisions),
        was_refused=Step.Decision.REFUSE in decisions,
    )


def take_sources(begun: Begun, message_id: UUID) -> list[Source]:
    """The passages of the beginning, under the same numbers, for the answer that goes on.

    The steps that found them come along.
    """
    with transaction.atomic():
        before = Message.objects.get(pk=begun.message)
        Message.objects.filter(pk=message_id).update(retrieval_run=before.retrieval_run_id)
        steps = list(before.steps.all())
        for step in steps:
            step.pk, step.message_id = None, message_id
        Step.objects.bulk_create(steps)
        rows = list(before.sources.select_related("vault"))
        for row in rows:
            row.pk, row.message_id = None, message_id
        return Source.objects.bulk_create(rows)
