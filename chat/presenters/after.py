"""What stands below an answer besides its sources: the reader's thumb, and what to ask next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _

from chat.follow_ups import follow_ups_for
from chat.models import Feedback, Message, UnansweredQuestion
from chat.unanswered import readable_notes
from vault.access import editable_by
from vault.models import Note


@dataclass(frozen=True, slots=True)
class After:
    """`feedback` None: no thumb yet. `asks_model`: what to ask next is still to be made."""

    feedback: Feedback | None = None
    follow_ups: tuple[str, ...] = ()
    asks_model: bool = False
    may_be_golden: bool = False

    @property
    def reasons(self) -> list[tuple[str, Any]]:
        return list(Feedback.Reason.choices)


def after_answers(user: User, answer_ids: list[str]) -> dict[str, After]:
    """What follows each answer of `user`; only the last one says what to ask next."""
    given = Feedback.objects.filter(message_id__in=answer_ids)
    thumbs = {str(each.message_id): each for each in given}
    golden = _golden(user, [pk for pk, each in thumbs.items() if each.is_helpful])
    after = {pk: After(feedback=thumbs.get(pk), may_be_golden=pk in golden) for pk in answer_ids}
    if answer_ids:
        last = answer_ids[-1]
        after[last] = _with_follow_ups(user, last, after[last])
    return after


def _golden(user: User, answer_ids: list[str]) -> set[str]:
    """Those that rest on a vault which `user` may edit."""
    if not answer_ids:
        return set()
    vaults = editable_by(user).values("pk")
    found = Message.objects.filter(pk__in=answer_ids, sources__vault__in=vaults)
    return {str(pk) for pk in found.values_list("pk", flat=True)}


def _with_follow_ups(user: User, answer_id: str, after: After) -> After:
    answer = Message.objects.select_related("parent").get(pk=answer_id)
    found = follow_ups_for(user, answer)
    return After(
        feedback=after.feedback,
        follow_ups=found or (),
        asks_model=found is None,
        may_be_golden=after.may_be_golden,
    )


CAUSES = {
    UnansweredQuestion.Cause.NOTHING_FOUND: _("Nothing was found."),
    UnansweredQuestion.Cause.NOT_CITED: _("Passages were read, and none was of use."),
    UnansweredQuestion.Cause.READER: _("A reader says the notes have it, but it was not found."),
}


@dataclass(frozen=True, slots=True)
class UnansweredRow:
    """A question without an answer, with the notes that its reader may see."""

    question: UnansweredQuestion
    cause: Any
    nearest: list[Note]
    answered_by: list[Note]


def unanswered_rows(user: User, questions: list[UnansweredQuestion]) -> list[UnansweredRow]:
    """`questions` as the page lists them."""
    notes = readable_notes(user, questions)
    return [
        UnansweredRow(
            question=each,
            cause=CAUSES[UnansweredQuestion.Cause(each.cause)],
            nearest=[notes[pk] for pk in each.nearest if pk in notes],
            answered_by=[notes[pk] for pk in each.answered_by if pk in notes],
        )
        for each in questions
    ]
