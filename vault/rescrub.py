"""Scrub what is stored once more, by the rules of today.

The next sync reads the files again anyway; this reaches notes whose files are out of
reach, and does not wait.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from vault.connections import mark_names_changed, refresh_connections
from vault.core.chunking import chunk_note
from vault.core.scrub import mark_for, scrub
from vault.core.types import Finding
from vault.indexing import fill_body, reading_options, write_text
from vault.lexemes import refresh_lexemes
from vault.locks import Work, only_one
from vault.models import Note, Vault
from vault.reading import ReadingOptions
from vault.stored_text import parsed_from_text

_BATCH = 100
# Of shorter values every third word would be one.
SHORTEST_VALUE = 6

# (notes looked at, notes there are)
OnProgress = Callable[[int, int], None]
# (vault id, clean(text) -> text) -> texts changed, of those kept elsewhere
RescrubKept = Callable[[int, Callable[[str], str]], int]


@dataclass(frozen=True, slots=True)
class Rescrubbed:
    """Notes looked at, notes changed, and secrets that were found in them; `kept` are texts
    kept elsewhere, such as answers that quote a note, that were changed too."""

    notes: int = 0
    changed: int = 0
    secrets: int = 0
    kept: int = 0


def rescrub_vault(
    vault_id: int, *, wait: float = 0.0, on_progress: OnProgress | None = None
) -> Rescrubbed:
    """Take out of a vault's tables what is a secret by now; may be stopped and run again.

    What was marked by mistake comes back only from the file: sync does that. Raises
    vault.locks.Busy when the vault is being read for longer than `wait`.
    """
    with only_one(Work.SYNC, vault_id, wait=wait):
        vault = Vault.objects.select_related("embedding_model", "next_embedding_model").get(
            pk=vault_id
        )
        options = reading_options(vault)
        ids = list(Note.objects.filter(vault=vault).order_by("pk").values_list("pk", flat=True))
        changed: list[int] = []
        secrets = 0
        taken: set[str] = set()
        for done in range(0, len(ids), _BATCH):
            for note in Note.objects.filter(pk__in=ids[done : done + _BATCH]):
                if found := _rescrub(note, options):
                    changed.append(note.pk)
                    secrets += len(found)
                    taken.update(found)
            if on_progress is not None:
                on_progress(min(done + _BATCH, len(ids)), len(ids))
        refresh_connections(vault_id, most_tokens=options.limits.maximum)
        if changed:
            refresh_lexemes(force=True)  # the words of a secret are counted, too
        kept = _rescrub_elsewhere(vault_id, taken, emails=options.scrub_emails)
        return Rescrubbed(len(ids), len(changed), secrets, kept)


def _rescrub_elsewhere(vault_id: int, taken: set[str], *, emails: bool) -> int:
    """Clean what is kept of the vault's notes elsewhere: of what the rules find, and of the
    values that were just taken out, which may stand there without the label beside them."""
    values = sorted((text for text in taken if len(text) >= SHORTEST_VALUE), key=len, reverse=True)

    def clean(text: str) -> str:
        for value in values:
            if value in text:
                text = text.replace(value, mark_for("value"))
        return scrub(text, emails=emails).text

    places: list[RescrubKept] = [import_string(place) for place in settings.KEPT_TEXTS]
    return sum(rescrub_kept(vault_id, clean) for rescrub_kept in places)


@transaction.atomic
def _rescrub(note: Note, options: ReadingOptions) -> tuple[str, ...]:
    """Secrets found in a note; it is stored without them."""
    body = scrub(note.body, emails=options.scrub_emails)
    marks = _Marks(emails=options.scrub_emails)
    note.title = marks.clean(note.title)
    note.tags = marks.clean(note.tags)
    note.aliases = marks.clean(note.aliases)
    note.properties = marks.clean(note.properties)
    if not body.findings and not marks.taken:
        return ()
    parsed = parsed_from_text(note, body.text)
    fill_body(note, parsed)
    note.indexed_hash = ""  # the next sync reads the file by today's rules
    findings = tuple(
        Finding(found.kind, found.line + note.body_line - 1, found.start, found.end)
        for found in body.findings
    )
    chunks = chunk_note(parsed, limits=options.limits)
    write_text(note, parsed, chunks, findings)
    mark_names_changed(note.vault_id)
    return (*body.taken, *marks.taken)


@dataclass(slots=True)
class _Marks:
    """Scrubs values of any shape and remembers what it takes out."""

    emails: bool
    taken: list[str] = field(default_factory=list)

    def clean(self, value: Any) -> Any:
        """The value with a mark in place of every secret."""
        if isinstance(value, str):
            scrubbed = scrub(value, emails=self.emails)
            self.taken += scrubbed.taken
            return scrubbed.text
        if isinstance(value, dict):
            return {key: self._labelled(key, item) for key, item in value.items()}
        return [self.clean(item) for item in value] if isinstance(value, list) else value

    def _labelled(self, key: str, value: Any) -> Any:
        """A value beside its key: `api_key: …` is a secret that neither tells alone."""
        if not isinstance(value, str) or "\n" in value:
            return self.clean(value)
        head = f"{key}: "
        scrubbed = scrub(head + value, emails=self.emails)
        if not scrubbed.text.startswith(head):
            return self.clean(value)
        self.taken += scrubbed.taken
        return scrubbed.text.removeprefix(head)
