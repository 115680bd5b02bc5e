"""Questions that the notes had no answer to: collected per vault, asked again, closed."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.db.models import F, Max, QuerySet, Value
from django.db.models.functions import MD5
from django.utils import timezone

from chat.models import Message, UnansweredQuestion
from chat.options import after_answer
from chat.providing import Providing
from retrieval.core.types import Retrieval
from vault.access import editable_by, notes_in, scope_for, whole_vault
from vault.models import Note, Vault
from vault.staleness import has_pending

Cause, State = UnansweredQuestion.Cause, UnansweredQuestion.State
LONGEST = 500  # characters of a question that are kept
MOST_NEAREST = 5
MOST_CHECKED = 50


def note_unanswered(answer_id: UUID, *, by_reader: bool = False) -> int:
    """Collect the question of an answer that found nothing, for each vault it searched.

    Nothing is kept when its asker does not share such questions, or asked in a temporary
    conversation. Who asked is not kept. Returns how many vaults got it.
    """
    answer = (
        Message.objects.filter(pk=answer_id)
        .select_related("parent", "retrieval_run", "conversation__owner")
        .first()
    )
    cause = _cause(answer, by_reader=by_reader) if answer else None
    if answer is None or cause is None or not _is_shared(answer) or answer.parent is None:
        return 0
    question = " ".join(answer.parent.text.split())[:LONGEST]
    slugs = answer.retrieval_run.vaults if answer.retrieval_run else []
    vaults = Vault.objects.filter(slug__in=slugs)
    for vault in vaults:
        _collect(vault, question, cause, _nearest(answer, vault))
    return len(vaults)


def unanswered_in(user: User, vault: Vault) -> QuerySet[UnansweredQuestion]:
    """What is missing in `vault`, for those who may edit it; nothing for others."""
    if not editable_by(user).filter(pk=vault.pk).exists():
        return UnansweredQuestion.objects.none()
    return UnansweredQuestion.objects.filter(vault=vault)


def close(user: User, vault: Vault, pk: int, providing: Providing) -> UnansweredQuestion | None:
    """Ask it once more; what is still unanswered is closed by `user` all the same.

    None when there is no such question that `user` may close.
    """
    found = unanswered_in(user, vault).filter(pk=pk).first()
    if found is None:
        return None
    check(found, providing)
    if found.state != State.ANSWERED:
        found.state, found.ended_by = State.CLOSED, user
        found.save(update_fields=["state", "ended_by"])
    return found


def reopen(user: User, vault: Vault, pk: int) -> UnansweredQuestion | None:
    """Take a closing back. None as for close."""
    found = unanswered_in(user, vault).filter(pk=pk).first()
    if found is not None:
        found.state, found.ended_by, found.answered_by = State.OPEN, None, []
        found.save(update_fields=["state", "ended_by", "answered_by"])
    return found


def check_open(providing: Providing) -> bool:
    """Ask those again whose vault changed since they were last looked for.

    Whether to come back: some notes are not found by their meaning yet.
    """
    opened = UnansweredQuestion.objects.filter(state=State.OPEN).select_related("vault")
    due = opened.annotate(newest=Max("vault__note__updated")).filter(newest__gt=F("checked"))
    waits = False
    for found in due.order_by("checked")[:MOST_CHECKED]:
        is_whole = not has_pending(found.vault_id)
        check(found, providing, is_whole=is_whole)
        waits = waits or (not is_whole and found.state == State.OPEN)
    return waits


def check(found: UnansweredQuestion, providing: Providing, *, is_whole: bool = True) -> None:
    """Search for a question in its vault as it is now; it counts as looked for if `is_whole`.

    It is answered when a passage fits that comes from a note changed after it was asked:
    what was there before had been read, and was no answer.
    """
    began = timezone.now()
    retrieval = _search(found.question, found.vault, providing)
    notes = Note.objects.filter(
        pk__in=[passage.note_id for passage in retrieval.passages],
        updated__gt=found.last_asked,
        vault=found.vault,
    )
    found.answered_by = list(notes.values_list("pk", flat=True))
    found.state = State.ANSWERED if found.answered_by else found.state
    found.checked = began if is_whole else found.checked
    found.save(update_fields=["answered_by", "state", "checked"])


def _search(question: str, vault: Vault, providing: Providing) -> Retrieval:
    retrieve = async_to_sync(providing.retrieve)
    return retrieve(
        question, history=(), scope=whole_vault(vault), knobs=providing.catalogue.knobs()
    )


def _cause(answer: Message, *, by_reader: bool) -> str | None:
    """Why the question counts as unanswered; None when it does not."""
    run = answer.retrieval_run
    if run is None or not run.vaults:
        return None  # nothing was searched
    if by_reader:
        return Cause.READER
    if answer.status != Message.Status.DONE:
        return None
    if not answer.sources.exists():
        return Cause.NOTHING_FOUND
    return None if answer.citations else Cause.NOT_CITED


def _is_shared(answer: Message) -> bool:
    conversation = answer.conversation
    return not conversation.temporary and after_answer(conversation.owner).shares_unanswered


def _nearest(answer: Message, vault: Vault) -> list[int]:
    """Notes of `vault` among the candidates of the search, best first."""
    run = answer.retrieval_run
    numbers = [each["note_id"] for each in run.candidates] if run else []
    order = list(dict.fromkeys(numbers))
    here = set(Note.objects.filter(pk__in=order, vault=vault).values_list("pk", flat=True))
    return [pk for pk in order if pk in here][:MOST_NEAREST]


def _collect(vault: Vault, question: str, cause: str, nearest: Sequence[int]) -> None:
    now = timezone.now()
    # The index is on the hash: a look-up by the question alone would read all of them.
    known = UnansweredQuestion.objects.annotate(hash=MD5("question")).filter(
        vault=vault, question=question, hash=MD5(Value(question))
    )
    again = known.update(
        asked=F("asked") + 1, last_asked=now, checked=now, state=State.OPEN, nearest=list(nearest)
    )
    if not again:
        UnansweredQuestion.objects.get_or_create(
            vault=vault,
            question=question,
            defaults={
                "cause": cause,
                "nearest": list(nearest),
                "last_asked": now,
                "checked": now,
            },
        )


def readable_notes(user: User, found: Sequence[UnansweredQuestion]) -> dict[int, Note]:
    """The notes that `found` name, as far as `user` may read them."""
    numbers = {pk for each in found for pk in (*each.nearest, *each.answered_by)}
    return notes_in(scope_for(user)).filter(pk__in=numbers).in_bulk()
