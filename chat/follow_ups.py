"""Questions offered after an answer, from the notes that were read or by the model."""

from __future__ import annotations

from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.db.models.functions import Left

from chat.core.follow_ups import (
    FOLLOW_UPS_PROMPT,
    ReadNote,
    follow_ups_from_model,
    follow_ups_from_notes,
)
from chat.core.marks import find_markers
from chat.history import own_answer
from chat.models import FollowUps, Message
from chat.options import after_answer, answering_model
from chat.providing import Providing
from chat.rights import has_lost_sources
from chat.small_calls import small_call
from vault.access import notes_in, scope_for
from vault.models import Note

EXCERPT = 4_000  # characters of the answer that the model is told
OPENING = 1_000  # characters of a note, which tell its language and its common words


def follow_ups_for(user: User, answer: Message) -> tuple[str, ...] | None:
    """What to offer `user` after `answer`; None: the model is to be asked.

    Nothing follows an answer that is not finished, rests on no note, or may not be read
    any more.
    """
    settings = after_answer(user)
    is_whole = answer.status == Message.Status.DONE and answer.sources.exists()
    if settings.follow_ups == FollowUps.OFF or not is_whole or has_lost_sources(user, answer.pk):
        return ()
    if settings.follow_ups == FollowUps.MODEL:
        return None if answer.follow_ups is None else tuple(answer.follow_ups)
    return _from_notes(user, answer)


def asked_follow_ups(
    user: User, conversation_id: UUID, answer_id: UUID, providing: Providing
) -> tuple[str, ...]:
    """As follow_ups_for, and the model is asked when it is its turn. Raises Refused."""
    answer = own_answer(user, conversation_id, answer_id)
    known = follow_ups_for(user, answer)
    if known is not None:
        return known
    model = answering_model(user, providing.catalogue)
    if model.provider.kind == "extractive":
        return _from_notes(user, answer)
    question = answer.parent.text if answer.parent else ""
    said = async_to_sync(small_call)(
        model,
        providing,
        system=FOLLOW_UPS_PROMPT,
        asked=f"Question: {question[:EXCERPT]}\n\nAnswer: {answer.text[:EXCERPT]}",
        purpose="follow-ups",
        user_id=user.pk,
    )
    made = follow_ups_from_model(said or "", question=question)
    Message.objects.filter(pk=answer.pk).update(follow_ups=list(made))
    return made


def _from_notes(user: User, answer: Message) -> tuple[str, ...]:
    """From the notes that the answer cites: a search brings others that only share a word."""
    read = list(answer.sources.exclude(note=None))
    numbers = {source.number for source in read}
    marks = find_markers(answer.text, exists=numbers.__contains__)
    cited = {number for mark in marks for number in mark.numbers}
    wanted = {s.note_id for s in read if s.number in cited and s.note_id is not None}
    allowed = notes_in(scope_for(user)).filter(pk__in=wanted)
    told_by = allowed.annotate(opening=Left("body", OPENING)).only("title", "headings")
    by_id = {note.pk: note for note in told_by}
    order = dict.fromkeys(source.note_id for source in read if source.note_id in by_id)
    told = {heading for source in read for heading in source.heading_path}
    notes = [_read(by_id[pk]) for pk in order if pk is not None]
    question = answer.parent.text if answer.parent else ""
    return follow_ups_from_notes(notes, question=question, told=told)


def _read(note: Note) -> ReadNote:
    headings = tuple(str(heading["text"]) for heading in note.headings)
    return ReadNote(note.title, headings, note.opening)  # type: ignore[attr-defined]
