"""Questions one could ask, made from titles and headings of notes the reader may read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.db.models.functions import Left

from chat.core.questions import question_about
from vault.access import notes_in
from vault.core.golden_notes import is_golden_note
from vault.core.types import Scope
from vault.models import Note

MOST_LOOKED_AT = 120
OPENING = 1_000  # characters of a note, which tell its language and its common words


def suggested_questions(scope: Scope, *, limit: int = 4) -> list[str]:
    """At most `limit` questions from lately changed notes of `scope`, spread over the vaults."""
    notes = (
        notes_in(scope)
        .filter(kind="note", status=Note.Status.INDEXED)
        .annotate(opening=Left("body", OPENING))
        .order_by("-file_modified", "pk")
        .only("vault_id", "path", "properties", "title", "headings")[:MOST_LOOKED_AT]
    )
    # A note that no search finds answers nothing.
    found = (note for note in notes if not is_golden_note(note.path, note.properties))
    questions: list[str] = []
    for note in _by_turns(found):
        headings = [heading["text"] for heading in note.headings]
        question = question_about(
            note.title,
            headings,
            opening=note.opening,  # type: ignore[attr-defined]
            nth=len(questions),
        )
        if question and question not in questions:
            questions.append(question)
        if len(questions) == limit:
            break
    return questions


def _by_turns(notes: Iterable[Note]) -> Iterator[Note]:
    """One note of each vault, then the next of each: no vault fills the page alone."""
    waiting: dict[int, list[Note]] = {}
    for note in notes:
        waiting.setdefault(note.vault_id, []).append(note)
    while waiting:
        for vault_id in list(waiting):
            yield waiting[vault_id].pop(0)
            if not waiting[vault_id]:
                del waiting[vault_id]
