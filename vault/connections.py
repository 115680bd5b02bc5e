"""Links and embedded texts, brought in line with the notes.

What is to be done stands in the tables, written with the notes themselves: a note whose
text changed is due, and every link of a vault is when names in it changed. So a run that
was cut after it stored notes is finished by the next, even if no file changed since.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction

from vault.embeds import refresh_embeds
from vault.lexemes import know_lexemes
from vault.links import resolve_links
from vault.models import Note, Vault


@dataclass(frozen=True, slots=True)
class Due:
    """Notes whose links are to be looked at; None: all of the vault."""

    note_ids: list[int] | None


def mark_names_changed(vault_id: int) -> None:
    """Every link of the vault is due. Call in the transaction that changes a name."""
    Vault.every.filter(pk=vault_id, links_due=False).update(links_due=True)


def due_connections(vault_id: int) -> Due | None:
    """What is to be looked at; None when nothing is."""
    if Vault.every.filter(pk=vault_id, links_due=True).exists():
        return Due(None)
    due = Note.objects.filter(vault_id=vault_id, links_due=True)
    note_ids = list(due.order_by("pk").values_list("pk", flat=True))
    return Due(note_ids) if note_ids else None


def refresh_connections(
    vault_id: int, *, most_tokens: int, on_stage: Callable[[str], None] | None = None
) -> int:
    """Do what is due; returns how many links lead elsewhere now.

    Nobody else may write notes of the vault meanwhile: hold its lock. `most_tokens` is
    how many the text behind one vector may have. `on_stage` hears "links", "embeds".
    """
    due = due_connections(vault_id)
    if due is None:
        return 0
    tell = on_stage or (lambda _stage: None)
    tell("links")
    resolved = resolve_links(vault_id, sources=due.note_ids)
    tell("embeds")
    with transaction.atomic():
        know_lexemes(refresh_embeds(vault_id, most_tokens=most_tokens, changed=due.note_ids))
        Note.objects.filter(vault_id=vault_id, links_due=True).update(links_due=False)
        Vault.every.filter(pk=vault_id, links_due=True).update(links_due=False)
    return resolved
