"""Questions one could ask, made from titles and headings of notes the reader may read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from vault.access import notes_in, scope_for
from vault.models import Note

MOST_LOOKED_AT = 120
SHORTEST, LONGEST = 4, 70
# Titles that say nothing about what a note holds.
EMPTY_TITLES = {"readme", "index", "home", "untitled", "inbox", "changelog", "todo", "welcome"}


def suggested_questions(user: User, *, limit: int = 4) -> list[str]:
    """At most `limit` questions from lately changed notes, spread over the vaults."""
    notes = (
        notes_in(scope_for(user))
        .filter(kind="note", status=Note.Status.INDEXED)
        .order_by("-file_modified", "pk")
        .only("vault_id", "title", "headings")[:MOST_LOOKED_AT]
    )
    questions: list[str] = []
    for note in _by_turns(notes):
        question = question_about(
            note.title, [heading["text"] for heading in note.headings], nth=len(questions)
        )
        if question and question not in questions:
            questions.append(question)
        if len(questions) == limit:
            break
    return questions


def question_about(title: str, headings: list[str], *, nth: int = 0) -> str:
    """A question that the note answers, or "" when its title says too little.

    A heading that is a question already is taken as it stands; `nth` varies the wording.
    """
    asked = [text for text in headings if text.rstrip().endswith("?") and _says_something(text)]
    if asked:
        return asked[0].strip()
    if not _says_something(title):
        return ""
    inner = [text for text in headings if _says_something(text) and text != title]
    if inner and nth % 2:
        return _("What does “%(title)s” say about “%(heading)s”?") % {
            "title": title,
            "heading": inner[(nth // 2) % len(inner)],
        }
    return _("What do the notes say about “%(title)s”?") % {"title": title}


def _says_something(text: str) -> bool:
    words = text.strip().casefold()
    has_letters = sum(character.isalpha() for character in words) >= SHORTEST
    return has_letters and len(words) <= LONGEST and words not in EMPTY_TITLES


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
