"""A chat model that writes context lines as it is told, and a vault that asks it."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

from asgiref.sync import sync_to_async

from providers.core.errors import ProviderError
from providers.core.types import ChatRequest, StreamPart, TextDelta, Usage
from providers.models import ChatModel
from tests.vault.embedder import Scripted
from tests.vault.folders import Folder
from vault.embedding import embed_pending
from vault.enrichment import (
    EnrichProgress,
    enrich_pending,
)
from vault.models import Chunk, Enrichment

SECTION = "Some words of the section that fill it well. " * 12
TEXT = "# Pumps\n\n" + "\n\n".join(f"## Part {n}\n\nPart{n}. {SECTION}" for n in range(3))


class LineWriter:
    """A model that does as it is told: a line for each passage, with a word of its own.

    `rows` may leave some out or spoil them, `error` is raised instead.
    """

    def __init__(self) -> None:
        self.requests: list[ChatRequest] = []
        self.error: ProviderError | None = None
        self.rows: Callable[[list[int]], list[dict[str, Any]]] = lambda numbers: [
            {"n": n, "context": f"Tells of zelmira{n}.", "summary": f"Sum {n}."} for n in numbers
        ]

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamPart]:
        self.requests.append(request)
        if self.error is not None:
            raise self.error
        asked = request.messages[0].content.rsplit(":", 1)[1]
        numbers = [int(number) for number in re.findall(r"\d+", asked)]
        for entry in await sync_to_async(self.rows)(numbers):
            yield TextDelta(json.dumps(entry) + "\n")
        yield Usage(1000, 200)

    @property
    def asked(self) -> list[str]:
        """What each call asked about: the numbers of passages."""
        return [request.messages[0].content.rsplit(": ", 1)[1] for request in self.requests]


def switch_on(folder: Folder, model: ChatModel, **fields: object) -> Enrichment:
    values = {"contextualize": True, "context_model": model, **fields}
    return Enrichment.objects.update_or_create(vault=folder.vault, defaults=values)[0]


def embed(folder: Folder) -> list[str]:
    """Embed what waits; returns what was sent."""
    backend = Scripted()
    embed_pending(folder.vault.pk, most_seconds=60, backend_of=lambda model: backend)
    return [text for call in backend.calls for text in call]


def enrich(folder: Folder, writer: LineWriter) -> EnrichProgress:
    return enrich_pending(
        folder.vault.pk, most_seconds=60, provider_of=lambda model, user_id: writer
    )


def contexts() -> list[str]:
    return list(Chunk.objects.order_by("note", "ordinal").values_list("context", flat=True))
