"""An embedder that does as it is told, and vaults that it embeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from providers.core.protocols import Vectors
from providers.models import EmbeddingModel, Provider
from providers.testing import HashEmbedder
from tests.vault.folders import Folder
from vault.embedding import EmbedProgress, embed_pending
from vault.models import Chunk


class Scripted(HashEmbedder):
    """As HashEmbedder, with faults: `fault(texts)` may raise, or return vectors to spoil."""

    def __init__(self, dimensions: int = 64) -> None:
        super().__init__(dimensions=dimensions)
        self.calls: list[list[str]] = []
        self.fault: Callable[[Sequence[str], Vectors], Vectors] = lambda texts, vectors: vectors

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        return self.fault(texts, await super().embed_passages(texts))

    @property
    def sent(self) -> int:
        return sum(map(len, self.calls))


def make_model(name: str = "one", dimensions: int = 64, **fields: Any) -> EmbeddingModel:
    provider, _made = Provider.objects.get_or_create(
        slug="fake", defaults={"name": "Fake", "kind": "fake", "needs_key": False}
    )
    return EmbeddingModel.objects.create(
        provider=provider, name=name, dimensions=dimensions, **fields
    )


def fill(folder: Folder, count: int) -> None:
    for number in range(count):
        folder.write(f"{number:03}.md", f"# Note {number}\n\nAbout subject{number}.")
    folder.sync()


def embed(folder: Folder, backend: Scripted, **options: Any) -> EmbedProgress:
    options.setdefault("most_seconds", 60)
    return embed_pending(folder.vault.pk, backend_of=lambda model: backend, **options)


def failures() -> dict[str, str]:
    failed = Chunk.objects.exclude(embed_failed="")
    return dict(failed.values_list("note__path", "embed_failed"))
