"""The passages of an answer: kept as they were, shown to readers, quoted by citations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from django.db import transaction
from django.urls import NoReverseMatch, reverse

from chat.core.citations import Quotable
from chat.models import Message, Source
from retrieval.core.standing import STANDING, standing_of
from retrieval.core.types import Arm, Passage, Retrieval
from vault.access import User
from vault.core.headings import path_at
from vault.core.types import Scope
from vault.models import Note, Vault
from vault.note_page import CitedText


def note_url(slug: str, path: str) -> str:
    """Address of a note's page."""
    try:
        return reverse("note", args=[slug, path])
    except NoReverseMatch:
        return f"/vaults/{slug}/notes/{quote(path)}"


def save_sources(message_id: Any, retrieval: Retrieval) -> list[Source]:
    """Keep the passages of `retrieval` under the message, in order."""
    with transaction.atomic():
        Message.objects.filter(pk=message_id).update(retrieval_run_id=retrieval.run_id)
        return add_sources(message_id, retrieval.passages)


def add_sources(message_id: Any, passages: Sequence[Passage]) -> list[Source]:
    """Keep further passages under the message, with the numbers they have."""
    slugs = {passage.vault_slug for passage in passages}
    slugs |= {copy.vault_slug for passage in passages for copy in passage.also_in}
    vaults = {vault.slug: vault for vault in Vault.objects.filter(slug__in=slugs)}
    note_ids = {passage.note_id for passage in passages}
    notes = {note.pk: note for note in Note.objects.filter(pk__in=note_ids)}
    return Source.objects.bulk_create(
        _row(message_id, passage, vaults, notes.get(passage.note_id)) for passage in passages
    )


def cited_text(user: User, source_id: int, note_id: int) -> CitedText | None:
    """The passage of one of the user's own answers, for the page of its note."""
    source = Source.objects.filter(
        pk=source_id, note_id=note_id, message__conversation__owner_id=user.pk
    ).first()
    return CitedText(source.text, source.start, source.note_hash) if source else None


def quotables_of(message: Message) -> list[Quotable]:
    """What the answer may cite, from the rows."""
    return [quotable(source) for source in message.sources.select_related("vault")]


def quotable(source: Source) -> Quotable:
    """A kept passage as the renderer needs it."""
    slug = source.vault.slug if source.vault else ""
    return Quotable(
        number=source.number,
        title=source.title,
        text=source.text,
        start=source.start,
        end=source.end,
        note_url=note_url(slug, source.path) if slug else "",
        source_id=source.pk,
        vault_name=source.vault.name if source.vault else "",
        outline=tuple((at, tuple(path)) for at, path in source.outline),
    )


def passage_json(source: Source, readable: Scope) -> dict[str, Any]:
    """A passage as the `sources` event and the thread show it. Of the notes that said the same
    only those that `readable` opens are named."""
    shown = quotable(source)
    return {
        "number": source.number,
        "title": source.title,
        "path": source.path,
        "vault": source.vault.slug if source.vault else "",
        "vault_name": source.vault.name if source.vault else "",
        "heading_path": list(source.heading_path),
        "text": source.text,
        "start": source.start,
        "end": source.end,
        "url": shown.url(shown.whole),
        "arms": list(source.arms),
        "updated": source.note_updated.isoformat() if source.note_updated else None,
        "date": source.note_day.isoformat() if source.note_day else None,
        **{name: source.standing.get(name, "") for name in STANDING},
        "also_in": [
            {
                "vault": copy["vault"],
                "path": copy["path"],
                "title": copy["title"],
                "url": note_url(copy["vault"], copy["path"]),
                "outdated": copy["outdated"],
            }
            for copy in source.also_in
            if readable.opens(copy["vault_id"], copy["path"])
        ],
    }


def outline_of(note: Note, start: int, end: int) -> list[tuple[int, list[str]]]:
    """Where which heading path begins in `start` to `end` of the note, as it is now."""
    inside = [row["start"] for row in note.headings if start < row["start"] < end]
    return [(at, list(path_at(note.headings, note.title, offset=at))) for at in (start, *inside)]


def arms_json(arms: Sequence[Arm]) -> list[dict[str, Any]]:
    """What each arm of a search did."""
    return [
        {
            "name": arm.name,
            "ran": arm.ran,
            "reason": arm.reason,
            "found": arm.found,
            "path": arm.path,
        }
        for arm in arms
    ]


def _copies_json(passage: Passage, vaults: Mapping[str, Vault]) -> list[dict[str, Any]]:
    return [
        {
            "vault_id": vaults[copy.vault_slug].pk,
            "vault": copy.vault_slug,
            "path": copy.path,
            "title": copy.title,
            "outdated": copy.is_outdated,
        }
        for copy in passage.also_in
        if copy.vault_slug in vaults
    ]


def _row(
    message_id: Any, passage: Passage, vaults: Mapping[str, Vault], note: Note | None
) -> Source:
    return Source(
        message_id=message_id,
        number=passage.number,
        vault=vaults.get(passage.vault_slug),
        note=note,
        chunk_id=passage.chunk_ids[0] if passage.chunk_ids else None,
        path=passage.path,
        title=passage.title,
        heading_path=list(passage.heading_path),
        outline=outline_of(note, passage.start, passage.end) if note else [],
        text=passage.text,
        start=passage.start,
        end=passage.end,
        note_hash=note.content_hash if note else "",
        arms=list(passage.arms),
        note_updated=passage.updated,
        note_day=passage.day,
        standing=standing_of(passage.properties),
        also_in=_copies_json(passage, vaults),
    )
