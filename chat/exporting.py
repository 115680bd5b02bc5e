"""Conversations out of the tables into files: only what their owner may read now, scrubbed."""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from typing import IO, Any

from django.contrib.auth.models import User
from django.utils import timezone

from chat.core.exporting import as_markdown, envelope, file_name
from chat.models import Conversation, Message
from chat.threads import thread
from vault.core.scrub import scrub

ALL_AS_JSON = "conversations.json"
# Bytes of an archive that are kept in memory.
MOST_IN_MEMORY = 10_000_000
KEPT_OF_MESSAGE = ("id", "parent", "role", "status", "created", "active")
KEPT_OF_ANSWER = ("mode", "tool_use", "model", "persona", "withheld", "hidden_sources")
KEPT_OF_STEP = ("number", "tool", "what", "why", "state", "said", "found")
KEPT_OF_SOURCE = ("number", "vault", "path", "title", "heading_path", "start", "end", "updated")


def export_conversation(user: User, conversation: Conversation) -> dict[str, Any]:
    """A conversation of `user` as a file has it; withheld answers have no text."""
    told = {str(pk): told for pk, told in conversation.messages.values_list("pk", "told")}
    messages = [
        _message(message) | ({"told": told[message["id"]]} if "withheld" in message else {})
        for message in thread(conversation, user)
        if message["status"] != Message.Status.RUNNING
    ]
    return {
        "id": str(conversation.origin or conversation.pk),
        "title": scrub(str(conversation)).text,
        "folder": conversation.folder.name if conversation.folder else "",
        "pinned": conversation.pinned,
        "archived": conversation.archived,
        "vaults": conversation.vaults,
        "leaf": str(conversation.leaf) if conversation.leaf else None,
        "created": conversation.created.isoformat(),
        "updated": conversation.updated.isoformat(),
        "messages": messages,
    }


def as_json(conversations: list[dict[str, Any]]) -> str:
    """A file that import_file() reads."""
    data = envelope(conversations, exported=timezone.now().isoformat())
    return json.dumps(data, ensure_ascii=False, indent=1)


def export_all(user: User) -> IO[bytes]:
    """A zip of everything listed: one JSON file to be imported, and Markdown to be read."""
    mine = Conversation.objects.owned_by(user).listed().select_related("folder")
    archive = tempfile.SpooledTemporaryFile(max_size=MOST_IN_MEMORY)  # noqa: SIM115 -- returned
    with (
        tempfile.TemporaryFile() as data,
        zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as files,
    ):
        head, tail = as_json([]).rsplit("[]", 1)
        data.write(f"{head}[".encode())
        for nth, conversation in enumerate(mine.order_by("created").iterator(chunk_size=100)):
            exported = export_conversation(user, conversation)
            data.write(("," if nth else "").encode() + json.dumps(exported).encode())
            name = file_name(exported["title"], ending="md")
            files.writestr(f"markdown/{nth + 1:04} {name}", as_markdown(exported))
        data.write(f"]{tail}".encode())
        data.seek(0)
        with files.open(ALL_AS_JSON, "w", force_zip64=True) as into:
            shutil.copyfileobj(data, into)
    archive.seek(0)
    return archive


def _message(message: dict[str, Any]) -> dict[str, Any]:
    kept = {key: message[key] for key in KEPT_OF_MESSAGE} | {"text": scrub(message["text"]).text}
    if message["role"] == "user":
        return kept
    cited = {citation["n"] for citation in message["citations"]}
    sources = [
        {key: source[key] for key in KEPT_OF_SOURCE}
        | {"text": scrub(source["text"]).text, "cited": source["number"] in cited}
        for source in message["sources"]
    ]
    steps = [
        {key: step[key] for key in KEPT_OF_STEP}
        | {key: scrub(step[key]).text for key in ("what", "why", "said")}
        for step in message["steps"]
    ]
    own = {key: message[key] for key in KEPT_OF_ANSWER}
    return kept | own | {"sources": sources, "steps": steps}
