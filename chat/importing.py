"""Conversations out of files into the tables.

A file never grants a right: each source is looked up by vault and path under the rights of
who imports, folders included. What is not found is kept as a source of no vault, and its
answer is withheld as if the vault had been taken away, until the file is imported again with
the vault there.
"""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from chat.core.importing import (
    BadFile,
    ImportedConversation,
    ImportedMessage,
    ImportedSource,
    parse_file,
)
from chat.core.titles import title_from_question
from chat.exporting import ALL_AS_JSON
from chat.models import Conversation, Message, Source, Step
from chat.organising import make_folder
from retrieval.core.note_day import note_day
from retrieval.core.standing import standing_of
from vault.access import notes_in, scope_for, visible_to
from vault.archive_directory import MOST_ENTRIES, refuse_long_directory
from vault.core.archives import UNREADABLE_ZIP, ArchiveRefused
from vault.core.scrub import scrub
from vault.core.types import Scope
from vault.models import Note, Vault

LARGEST_FILE = 50_000_000
WITHHELD_IN_FILE = "This answer was withheld when the file was made: its text is not in it."


@dataclass(frozen=True, slots=True)
class Readable:
    """What the one who imports may read: vaults by slug, and in them the open folders."""

    vaults: dict[str, Vault]
    scope: Scope

    @classmethod
    def by(cls, user: User) -> Readable:
        return cls({vault.slug: vault for vault in visible_to(user)}, scope_for(user))

    def vault_of(self, source: ImportedSource) -> Vault | None:
        """The vault of a source whose place there is open; None otherwise."""
        vault = self.vaults.get(source.vault)
        is_open = vault is not None and self.scope.opens(vault.pk, source.path)
        return vault if is_open else None

    def note_of(self, source: ImportedSource, vault: Vault) -> Note | None:
        return notes_in(self.scope).filter(vault=vault, path=source.path).first()


@dataclass(slots=True)
class ImportReport:
    """`known` were here already; `withheld` answers rest on what was not found or is closed."""

    added: int = 0
    known: int = 0
    withheld: int = 0
    restored: int = 0


def import_file(user: User, content: bytes) -> ImportReport:
    """Keep the conversations of a JSON file or of the zip of everything. Raises BadFile.

    Nothing is kept of a file that has a fault. Importing it again adds nothing twice.
    """
    conversations = parse_file(_load(content), now=timezone.now())
    report = ImportReport()
    readable = Readable.by(user)
    with transaction.atomic():
        # Of two imports at once the second waits, and then knows what the first added.
        User.objects.select_for_update().get(pk=user.pk)
        for imported in conversations:
            _import_one(user, imported, readable, report)
    return report


def _load(content: bytes) -> object:
    if len(content) > LARGEST_FILE:
        raise BadFile(f"The file has more than {LARGEST_FILE // 10**6} MB.")
    if content[:4] == b"PK\x03\x04":
        content = _from_zip(content)
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadFile(f"The file is not JSON: {error}.") from error


def _from_zip(content: bytes) -> bytes:
    try:
        refuse_long_directory(io.BytesIO(content), most_entries=MOST_ENTRIES)
        with zipfile.ZipFile(io.BytesIO(content)) as files, files.open(ALL_AS_JSON) as inside:
            data = inside.read(LARGEST_FILE + 1)
    except (ArchiveRefused, KeyError, OSError, *UNREADABLE_ZIP) as error:
        raise BadFile(
            f"There is no readable “{ALL_AS_JSON}” in this zip: it is broken, encrypted, or was "
            "not exported here. Export everything again, and choose that file as it came."
        ) from error
    if len(data) > LARGEST_FILE:
        raise BadFile(f"“{ALL_AS_JSON}” has more than {LARGEST_FILE // 10**6} MB.")
    return data


def _import_one(
    user: User, imported: ImportedConversation, readable: Readable, report: ImportReport
) -> None:
    mine = Conversation.objects.owned_by(user)
    known = mine.filter(Q(pk=imported.id) | Q(origin=imported.id)).first()
    if known is not None:
        report.known += 1
        if known.origin is not None:
            report.restored += _resolve_again(known, imported, readable)
        return
    conversation = Conversation.objects.create(
        owner=user,
        origin=imported.id,
        title=scrub(imported.title).text[:200] or _title(imported),
        title_is_final=bool(imported.title),
        folder=make_folder(user, imported.folder) if imported.folder.strip() else None,
        pinned=imported.pinned and not imported.archived,
        archived=imported.archived,
        # Vaults that are not here stay in the list: without them it would mean all of them.
        vaults=None if imported.vaults is None else list(imported.vaults),
    )
    new_ids = _add_messages(conversation, imported, readable, report)
    kept: dict[str, Any] = {"leaf": new_ids.get(imported.leaf) if imported.leaf else None}
    if imported.updated is not None:
        kept["updated"] = imported.updated
    Conversation.objects.filter(pk=conversation.pk).update(**kept)
    report.added += 1


def _add_messages(
    conversation: Conversation,
    imported: ImportedConversation,
    readable: Readable,
    report: ImportReport,
) -> dict[UUID, UUID]:
    new_ids = {message.id: uuid4() for message in imported.messages}
    rows = [_row(conversation, message, new_ids) for message in imported.messages]
    Message.objects.bulk_create(rows)
    for row, moment in zip(rows, _moments(imported.messages), strict=True):
        row.created = moment
    Message.objects.bulk_update(rows, ["created"], batch_size=500)
    for message in imported.messages:
        sources = [_source(new_ids[message.id], source, readable) for source in message.sources]
        Source.objects.bulk_create(sources, ignore_conflicts=True)
        Step.objects.bulk_create(_steps(new_ids[message.id], message))
        report.withheld += any(source.vault is None for source in sources)
    return new_ids


def _row(
    conversation: Conversation, message: ImportedMessage, new_ids: dict[UUID, UUID]
) -> Message:
    row = Message(
        id=new_ids[message.id],
        conversation=conversation,
        parent_id=new_ids[message.parent] if message.parent else None,
        role=message.role,
        text=scrub(message.text).text,
        status=message.status,
        mode=message.mode,
        tool_use=message.tool_use,
        model_label=message.model,
        persona_name=message.persona,
        told=[str(new_ids[before]) for before in message.told],
    )
    if message.withheld:
        row.text, row.status, row.error = "", Message.Status.FAILED, WITHHELD_IN_FILE
        row.error_code = "withheld_in_file"
    return row


def _steps(message_id: UUID, message: ImportedMessage) -> list[Step]:
    """The further searches of an answer; of one that is withheld nothing is told."""
    if message.withheld:
        return []
    return [
        Step(
            message_id=message_id,
            number=number,
            tool=step.tool,
            what=scrub(step.what).text,
            why=scrub(step.why).text,
            state=step.state,
            said=scrub(step.said).text,
            found=list(step.found),
        )
        for number, step in enumerate(message.steps, start=1)
    ]


def _moments(messages: tuple[ImportedMessage, ...]) -> list[datetime]:
    """When each was said; one after the other from now, where that would change their order."""
    known = [message.created for message in messages if message.created is not None]
    if len(known) == len(messages) and known == sorted(set(known)):
        return known
    now = timezone.now()
    return [now + timedelta(microseconds=nth) for nth in range(len(messages))]


def _source(message_id: UUID, source: ImportedSource, readable: Readable) -> Source:
    row = Source(message_id=message_id, number=source.number, start=source.start, end=source.end)
    _resolve(row, source, readable)
    return row


def _resolve(row: Source, source: ImportedSource, readable: Readable) -> bool:
    """Fill `row` when its place may be read. Nothing of it is kept otherwise."""
    vault = readable.vault_of(source)
    if vault is None:
        return False
    note = readable.note_of(source, vault)
    text = scrub(source.text).text
    at = note.body.find(text) if note and text else -1
    row.vault, row.note = vault, note
    row.path, row.title, row.text = source.path, source.title, text
    row.heading_path = list(source.heading_path)
    if note is not None and at >= 0:
        if note.body[source.start : source.end] != text:
            row.start, row.end = at, at + len(text)
        row.note_hash, row.note_updated = note.content_hash, note.file_modified
        changed = timezone.localdate(note.file_modified)
        row.note_day = note_day(note.properties, note.path, changed=changed)
        row.standing = standing_of(note.properties)
    return True


def _resolve_again(
    conversation: Conversation, imported: ImportedConversation, readable: Readable
) -> int:
    """Sources that were not found before, and are now; of how many answers."""
    rows = list(conversation.messages.prefetch_related("sources")[: len(imported.messages)])
    restored = 0
    for row, message in zip(rows, imported.messages, strict=False):
        by_number = {source.number: source for source in message.sources}
        lost = [s for s in row.sources.all() if s.vault_id is None and s.number in by_number]
        found = [s for s in lost if _resolve(s, by_number[s.number], readable)]
        for source in found:
            source.save()
        restored += bool(found)
    return restored


def _title(imported: ImportedConversation) -> str:
    asked = next((m.text for m in imported.messages if m.role == "user"), "")
    return title_from_question(scrub(asked).text)
