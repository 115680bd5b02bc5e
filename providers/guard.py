"""What stands between every caller and every model server: limits, then the circuit.

Here and nowhere else, so that no way to a model goes around it. Database work runs apart,
in a thread with a connection of its own that is given back at once: an answer takes a
minute and must not keep a connection, and a caller's transaction and locks stay its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from asgiref.sync import sync_to_async
from django.db import connections

from providers import circuits
from providers.calibration import learn_from, learn_no_tools
from providers.core.circuit import Circuit
from providers.core.errors import (
    EgressRefused,
    NotConfigured,
    NoTools,
    ProtocolError,
    ProviderError,
)
from providers.core.protocols import ChatProvider, Embedder, Reranker, Vectors
from providers.core.types import (
    ChatRequest,
    RankedText,
    ReasoningDelta,
    StreamPart,
    TextDelta,
    ToolCall,
    Usage,
)
from providers.limits import refuse_over_limit
from providers.models import ChatModel, Provider

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

LONGEST_WAIT = 10.0
"""Seconds of a Retry-After that a call waits itself; a longer one opens the circuit."""

P = ParamSpec("P")
R = TypeVar("R")


class GuardedChat:
    """A chat backend that refuses over a limit and while its provider is left alone."""

    def __init__(self, backend: ChatProvider, model: ChatModel, *, user_id: int | None) -> None:
        self.backend = backend
        self._model = model
        self._user_id = user_id

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamPart]:
        """As the backend's. Raises LimitReached and CircuitOpen before anything is sent."""
        await apart(refuse_over_limit, self._user_id)
        async with _call(self._model.provider) as call:
            stream = cast("AsyncGenerator[StreamPart, None]", self.backend.stream(request))
            try:
                async with aclosing(stream) as parts:
                    async for part in parts:
                        if isinstance(part, TextDelta | ReasoningDelta | ToolCall):
                            await call.has_content()
                        if isinstance(part, Usage):
                            await apart(learn_from, self._model, request, part)
                        yield part
            except NoTools:
                if request.tools:
                    await apart(learn_no_tools, self._model)
                raise


class GuardedEmbedder:
    """An embedder that fails at once while its provider is left alone."""

    def __init__(self, backend: Embedder, provider: Provider) -> None:
        self.backend = backend
        self.dimensions = backend.dimensions
        self.max_tokens = backend.max_tokens
        self._provider = provider

    def count_tokens(self, text: str) -> int:
        return self.backend.count_tokens(text)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return await self._guarded(lambda: self.backend.embed_queries(texts))

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return await self._guarded(lambda: self.backend.embed_passages(texts))

    async def _guarded(self, embed: Callable[[], Awaitable[Vectors]]) -> Vectors:
        # One bad text spoils the reply of its batch, and the batch is then halved again and
        # again: that says nothing about the provider.
        async with _call(self._provider, is_forgiven=ProtocolError):
            return await embed()


class GuardedReranker:
    """A reranker that fails at once while its provider is left alone."""

    def __init__(self, backend: Reranker, provider: Provider) -> None:
        self.backend = backend
        self._provider = provider

    async def rerank(self, query: str, texts: Sequence[str], *, top_n: int) -> list[RankedText]:
        async with _call(self._provider):
            return await self.backend.rerank(query, texts, top_n=top_n)


class _Call:
    """One call through a circuit."""

    def __init__(self, provider: Provider, circuit: Circuit) -> None:
        self.provider = provider
        self.circuit = circuit
        self.is_settled = False

    async def has_content(self) -> None:
        """A provider that was left alone answers again: others need not wait for the end."""
        if self.circuit.openings and not self.is_settled:
            await self.settle(circuits.note_success, self.provider)

    async def went_well(self) -> None:
        if not self.circuit.is_clean and not self.is_settled:
            await self.settle(circuits.note_success, self.provider)
        self.is_settled = True

    async def failed(self, error: ProviderError) -> None:
        wait = error.retry_after
        await self.settle(
            circuits.note_failure,
            self.provider,
            reason=str(error),
            retry_after=wait if wait is not None and wait > LONGEST_WAIT else None,
        )

    async def settle(self, note: Callable[P, None], *args: P.args, **kwargs: P.kwargs) -> None:
        self.is_settled = True
        await apart(note, *args, **kwargs)


@asynccontextmanager
async def _call(
    provider: Provider, *, is_forgiven: type[ProviderError] | None = None
) -> AsyncIterator[_Call]:
    """A call whose outcome the circuit hears. Raises CircuitOpen when it may not begin.

    A permanent error is an answer too: the provider is there. A call that never left, or
    that was given up by the caller, says nothing.
    """
    call = _Call(provider, await apart(circuits.admit, provider))
    try:
        yield call
        await call.went_well()
    except (NotConfigured, EgressRefused):
        raise
    except ProviderError as error:
        if is_forgiven is not None and isinstance(error, is_forgiven):
            raise
        if error.permanent:
            await call.went_well()
        else:
            await call.failed(error)
        raise
    finally:
        if call.circuit.openings and not call.is_settled:
            await apart(circuits.release_probe, provider)


async def apart(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """What `work` returns, run in a thread of its own whose connection is given back."""

    def run() -> R:
        try:
            return work(*args, **kwargs)
        finally:
            connections.close_all()

    return await sync_to_async(run, thread_sensitive=False)()
