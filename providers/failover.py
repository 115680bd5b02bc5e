"""One embedding model on several servers: the next one takes over when one is down."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

import structlog

from providers.core.errors import Overloaded, ProviderError, Silent, Unreachable
from providers.core.protocols import Embedder, Vectors

SKIPPED_SECONDS = 20.0
"""How long a server that was down is not asked, as long as another one answers."""
_DOWN = (Unreachable, Silent, Overloaded)
log = structlog.get_logger("providers.failover")


class DownHosts:
    """Which servers are skipped by this process, and until when."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._until: dict[str, float] = {}

    def mark(self, url: str) -> None:
        self._until[url] = self._now() + SKIPPED_SECONDS

    def is_skipped(self, url: str) -> bool:
        return self._now() < self._until.get(url, 0.0)


down_hosts = DownHosts()
"""Those of this process."""


class FailoverEmbedder:
    """Asks the first server that is not down; all of them serve the same model.

    When every one was down a moment ago they are asked all the same, in their order.
    """

    def __init__(
        self, servers: Sequence[tuple[str, Embedder]], *, hosts: DownHosts = down_hosts
    ) -> None:
        self._servers = servers
        self._hosts = hosts
        self.dimensions = servers[0][1].dimensions
        self.max_tokens = servers[0][1].max_tokens

    def count_tokens(self, text: str) -> int:
        return self._servers[0][1].count_tokens(text)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._first(lambda embedder: embedder.embed_queries(texts))

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return await self._first(lambda embedder: embedder.embed_passages(texts))

    async def _first(self, embed: Callable[[Embedder], Awaitable[Vectors]]) -> Vectors:
        failure: ProviderError | None = None
        for url, embedder in sorted(self._servers, key=lambda it: self._hosts.is_skipped(it[0])):
            try:
                return await embed(embedder)
            except _DOWN as error:
                log.warning("embedding_server_down", code=error.code)
                self._hosts.mark(url)
                failure = error
        assert failure is not None  # noqa: S101 -- there is at least one server
        raise failure
