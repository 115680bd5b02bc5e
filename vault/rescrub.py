"""Scrub what is stored once more, by the rules of today.

The next sync reads the files again anyway; this reaches notes whose files are out of
reach, and does not wait.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from vault.connections import mark_names_changed, refresh_connections
from vault.core.chunking import chunk_note
from vault.core.code import UnreadableCode, parse_code
from vault.core.documents import stored_document
from vault.core.markdown import parse_markdown
from vault.core.scrub import Scrubbed, scrub
from vault.core.types import Finding, NoteKind, ParsedNote
from vault.indexing import fill_body, reading_options, write_text
from vault.lexemes import refresh_lexemes
from vault.locks import Work, only_one
from vault.models import Note, Vault
from vault.reading import ReadingOptions

# Takes the place of a header, so that a rule at the top of a body is not read as one.
_HEADER = "---\nstored: true\n---\n"
_BATCH = 100

# (notes looked at, notes there are)
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Rescrubbed:
    """Notes looked at, notes changed, and secrets that were found in them."""

    notes: int = 0
    changed: int = 0
    secrets: int = 0


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
        for done in range(0, len(ids), _BATCH):
            for note in Note.objects.filter(pk__in=ids[done : done + _BATCH]):
                if found := _rescrub(note, options):
                    changed.append(note.pk)
                    secrets += found
            if on_progress is not None:
                on_progress(min(done + _BATCH, len(ids)), len(ids))
        refresh_connections(vault_id, most_tokens=options.limits.maximum)
        if changed:
            refresh_lexemes(force=True)  # the words of a secret are counted, too
        return Rescrubbed(len(ids), len(changed), secrets)


@transaction.atomic
def _rescrub(note: Note, options: ReadingOptions) -> int:
    """Secrets found in a note; it is stored without them."""
    body = scrub(note.body, emails=options.scrub_emails)
    marks = _Marks(emails=options.scrub_emails)
    note.title = marks.clean(note.title)
    note.tags = marks.clean(note.tags)
    note.aliases = marks.clean(note.aliases)
    note.properties = marks.clean(note.properties)
    if not body.findings and not marks.count:
        return 0
    parsed = replace(
        _parsed(note, body), title=note.title, tags=tuple(note.tags), aliases=tuple(note.aliases)
    )
    fill_body(note, parsed)
    note.indexed_hash = ""  # the next sync reads the file by today's rules
    findings = tuple(
        Finding(found.kind, found.line + note.body_line - 1, found.start, found.end)
        for found in body.findings
    )
    chunks = chunk_note(parsed, limits=options.limits)
    write_text(note, parsed, chunks, findings)
    mark_names_changed(note.vault_id)
    return len(findings) + marks.count


def _parsed(note: Note, body: Scrubbed) -> ParsedNote:
    kind = NoteKind(note.kind)
    if kind is NoteKind.ATTACHMENT:
        return stored_document(body.text, title=note.title, properties=note.properties)
    if kind is NoteKind.CODE:
        try:
            return parse_code(body.text, path=note.path)
        except UnreadableCode:
            return ParsedNote(note.title, body.text, kind=kind, language=note.language)
    parsed = parse_markdown(_HEADER + body.text, path=note.path)
    return replace(parsed, kind=kind, body_line=note.body_line, properties=note.properties)


@dataclass(slots=True)
class _Marks:
    """Scrubs values of any shape and counts what it takes out."""

    emails: bool
    count: int = 0

    def clean(self, value: Any) -> Any:
        """The value with a mark in place of every secret."""
        if isinstance(value, str):
            scrubbed = scrub(value, emails=self.emails)
            self.count += len(scrubbed.findings)
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
        self.count += len(scrubbed.findings)
        return scrubbed.text.removeprefix(head)
