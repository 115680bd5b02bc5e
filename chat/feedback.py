"""Thumbs on answers: kept, changed, taken back, and made golden questions."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User

from chat.core.asking import Refused, clean_text
from chat.history import own_answer
from chat.models import Feedback, Message
from chat.unanswered import note_unanswered
from retrieval.evaluation import CannotAdd, add_question
from retrieval.models import EvalQuestion
from vault.access import editable_by
from vault.models import Note

LONGEST_COMMENT = 2_000  # characters


@dataclass(frozen=True, slots=True)
class Thumb:
    """What a reader says of an answer. A thumb up needs no reason."""

    is_helpful: bool
    reason: str = ""
    comment: str = ""
    shares_question: bool = False


def give_feedback(user: User, conversation_id: UUID, answer_id: UUID, thumb: Thumb) -> Feedback:
    """Keep, or change, what `user` says of an answer of theirs. Raises Refused."""
    answer = own_answer(user, conversation_id, answer_id)
    if answer.status == Message.Status.RUNNING:
        raise Refused("run_active", "The answer is still being written: judge it when it is.")
    if thumb.reason and thumb.reason not in Feedback.Reason.values:
        known = ", ".join(Feedback.Reason.values)
        raise Refused("bad_request", f"“reason” must be one of {known}.", status=400)
    comment = clean_text(thumb.comment).strip()
    if len(comment) > LONGEST_COMMENT:
        raise Refused(
            "bad_request", f"A comment has at most {LONGEST_COMMENT:,} characters.", status=400
        )
    feedback, _made = Feedback.objects.update_or_create(
        message=answer,
        defaults={
            "is_helpful": thumb.is_helpful,
            "reason": "" if thumb.is_helpful else thumb.reason,
            "comment": comment,
            "shares_question": thumb.shares_question,
        },
    )
    if feedback.reason == Feedback.Reason.NOT_FOUND:
        note_unanswered(answer.pk, by_reader=True)
    return feedback


def withdraw_feedback(user: User, conversation_id: UUID, answer_id: UUID) -> None:
    """Take back what was said. Raises Refused."""
    Feedback.objects.filter(message=own_answer(user, conversation_id, answer_id)).delete()


def make_golden(user: User, conversation_id: UUID, answer_id: UUID) -> list[EvalQuestion]:
    """Keep the question as a golden one, answered by the notes that the answer cites.

    One a vault, for those vaults that `user` may edit. Raises Refused.
    """
    answer = own_answer(user, conversation_id, answer_id)
    made = []
    for vault in editable_by(user).filter(source__message=answer).distinct():
        numbers = [citation["n"] for citation in answer.citations]
        notes = Note.objects.filter(
            source__message=answer, source__number__in=numbers, vault=vault
        ).distinct()
        try:
            text = answer.parent.text if answer.parent else ""
            origin = EvalQuestion.Origin.THUMBS
            made.append(add_question(vault, text, expected=notes, origin=origin, user=user))
        except CannotAdd:
            continue  # nothing of this vault was cited, or the question is no question
    if not made:
        raise Refused(
            "no_golden_question",
            "No golden question was made: the answer cites no note of a vault you may edit, or "
            "the question is too long for one.",
        )
    return made
