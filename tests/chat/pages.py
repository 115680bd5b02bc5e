"""Conversations as rows, for tests of the pages: no run, no model, no socket."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import User
from django.test import Client

from chat.models import Conversation, Message, Source
from vault.models import Note, Vault

BODY = "# Pump\n\n## Failure\n\nThe pump failed in March. It was repaired in three hours."
DAY = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def browser(user: User) -> Client:
    """A client signed in as `user`."""
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def make_note(vault: Vault, *, title: str = "Pump", body: str = BODY, **fields: Any) -> Note:
    """An indexed note of `vault`."""
    return Note.objects.create(
        vault=vault,
        path=fields.pop("path", f"{title}.md"),
        title=title,
        body=body,
        content_hash="0" * 64,
        file_modified=fields.pop("file_modified", DAY),
        status=fields.pop("status", Note.Status.INDEXED),
        **fields,
    )


def make_conversation(owner: User, *, title: str = "About the pump") -> Conversation:
    return Conversation.objects.create(owner=owner, title=title)


def add_turn(
    conversation: Conversation, question: str, answer: str, *, note: Note | None = None, **of: Any
) -> Message:
    """A question and its answer, written from `note` as passage 1. Gives the answer."""
    asked = Message.objects.create(
        conversation=conversation,
        parent=conversation.messages.last(),
        role=Message.Role.USER,
        text=question,
    )
    return add_answer(asked, answer, note=note, **of)


def add_answer(asked: Message, text: str, *, note: Note | None = None, **of: Any) -> Message:
    """Another answer to a question that was asked."""
    answer = Message.objects.create(
        conversation=asked.conversation,
        parent=asked,
        role=Message.Role.ASSISTANT,
        text=text,
        **of,
    )
    if note is not None:
        add_source(answer, note)
    return answer


def add_source(answer: Message, note: Note, *, number: int = 1) -> Source:
    return Source.objects.create(
        message=answer,
        number=number,
        vault=note.vault,
        note=note,
        path=note.path,
        title=note.title,
        heading_path=[note.title, "Failure"],
        text=note.body,
        start=0,
        end=len(note.body),
        note_updated=DAY,
    )
