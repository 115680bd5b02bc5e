"""Context lines, stored with the chunks they were written for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from vault.core.context_lines import (
    MOST_LINE_TOKENS,
    MOST_SUMMARY_TOKENS,
    Lines,
    shortened,
)
from vault.core.scrub import scrub
from vault.indexing import reading_options
from vault.lexemes import know_lexemes
from vault.models import Chunk, ContextFailure, Note, Vault

# Seconds before a note is asked about again; the last one is repeated.
BACK_OFF = (3600, 6 * 3600, 24 * 3600)
_FIELDS = (
    "context",
    "summary",
    "context_made",
    "embed_hash",
    "embed_failed",
    "embed_failed_by",
    "embed_attempts",
)


@dataclass(frozen=True, slots=True)
class WrittenLines:
    """What a model wrote about `chunks` of a note, by ordinal + 1."""

    note: Note
    chunks: Sequence[Chunk]
    lines: Mapping[int, Lines]
    key: str

    @transaction.atomic
    def store(self) -> int:
        """Give chunks that still are what the model saw their lines; returns how many.

        A line is scrubbed, and cut where the chunk and its line would be too long for the
        embedding model. It never takes the place of text.
        """
        sent = {chunk.pk: _own(chunk) for chunk in self.chunks}
        options = reading_options(
            Vault.objects.select_related("embedding_model", "next_embedding_model").get(
                pk=self.note.vault_id
            )
        )
        rows = Chunk.objects.select_for_update().filter(pk__in=sent).order_by("pk")
        changed = []
        for chunk in rows.defer("tsv"):
            lines = self.lines.get(chunk.ordinal + 1)
            if lines is None or sent[chunk.pk] != _own(chunk):
                continue
            room = min(MOST_LINE_TOKENS, options.limits.maximum - chunk.tokens)
            chunk.context = _clean(lines.context, room, emails=options.scrub_emails)
            chunk.summary = _clean(lines.summary, MOST_SUMMARY_TOKENS, emails=options.scrub_emails)
            chunk.context_made = self.key
            chunk.renew_vector_hash()
            changed.append(chunk)
        write_lines(changed)
        return len(changed)


def write_lines(chunks: Sequence[Chunk]) -> None:
    """Save chunks whose lines changed. Call in the transaction that locked them."""
    if not chunks:
        return
    Chunk.objects.bulk_update(chunks, _FIELDS, batch_size=200)
    notes = sorted({chunk.note_id for chunk in chunks})
    know_lexemes(notes)
    # What a chunk shows of other notes fills the room that is left beside its line.
    showing = {chunk.note_id for chunk in chunks if chunk.embedded_text}
    Note.objects.filter(pk__in=showing).update(links_due=True)


def note_failure(note: Note, reason: str, *, key: str) -> None:
    """Some lines of a note could not be written: why, and when to ask again."""
    before = ContextFailure.objects.filter(
        note=note, content_hash=note.content_hash, made_under=key
    ).first()
    attempts = (before.attempts if before else 0) + 1
    wait = BACK_OFF[min(attempts, len(BACK_OFF)) - 1]
    ContextFailure.objects.update_or_create(
        note=note,
        defaults={
            "content_hash": note.content_hash,
            "made_under": key,
            "reason": reason.replace("\0", "")[:1000],
            "attempts": attempts,
            "retry_after": timezone.now() + timedelta(seconds=wait),
        },
    )


def _clean(line: str, most_tokens: int, *, emails: bool) -> str:
    return shortened(scrub(line, emails=emails).text, most_tokens=most_tokens)


def _own(chunk: Chunk) -> tuple[object, ...]:
    return chunk.ordinal, tuple(chunk.heading_path), chunk.content
