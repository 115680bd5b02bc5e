"""Tries a provider with one small real call for each thing it is used for."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from asgiref.sync import async_to_sync

from providers import circuits, registry
from providers.core.errors import CutOff, ProviderError
from providers.core.types import (
    ChatMessage,
    ChatRequest,
    Grounding,
    GroundingPassage,
    ReasoningDelta,
    TextDelta,
    TimeLimits,
    Usage,
)
from providers.models import ChatModel, EmbeddingModel, Provider, RerankModel

# An admin waits for this; a local server may have to load its model first.
_LIMITS = TimeLimits(connect=5.0, first_content=45.0, between_content=20.0)
_GREETING = "Reply with the single word: ready"


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What one call did: `said` on success; on failure what went wrong and how to mend it."""

    subject: str
    succeeded: bool
    said: str
    mend: str = ""
    milliseconds: int = 0


def probe_provider(provider: Provider) -> list[ProbeResult]:
    """Call the default model of each use once, past limits and circuit. Never raises a
    ProviderError. When all went well, a circuit that was open is closed.
    """
    state = registry.availability(provider)
    if not state.is_available:
        return [ProbeResult(provider.name, succeeded=False, said=state.reason)]
    probes: tuple[tuple[Any, Callable[[Any], Awaitable[str]]], ...] = (
        (ChatModel, _probe_chat),
        (EmbeddingModel, _probe_embedding),
        (RerankModel, _probe_rerank),
    )
    results = []
    for table, probe in probes:
        rows = table.objects.filter(provider=provider, enabled=True).select_related("provider")
        model = rows.order_by("-is_default", "name").first()
        if model is not None:
            results.append(_timed(model, probe))
    if results and all(result.succeeded for result in results):
        circuits.note_success(provider)
    return results or [
        ProbeResult(provider.name, succeeded=False, said="it has no model that is switched on")
    ]


def _timed(model: Any, probe: Callable[[Any], Awaitable[str]]) -> ProbeResult:
    subject = f"{model.provider.name}, {model.name}"
    started = time.monotonic()
    try:
        said, error = async_to_sync(probe)(model), None
    except ProviderError as failure:
        said, error = str(failure), failure
    return ProbeResult(
        subject,
        succeeded=error is None,
        said=said,
        mend=error.mend if error else "",
        milliseconds=round((time.monotonic() - started) * 1000),
    )


async def _probe_chat(model: ChatModel) -> str:
    passage = GroundingPassage(1, "Test", "The connection is ready.")
    request = ChatRequest(
        model.name,
        (ChatMessage("user", _GREETING),),
        max_output_tokens=min(model.max_output_tokens, 64),
        context_window=model.context_window,
        grounding=Grounding("Is the connection ready?", (passage,)),
    )
    text, has_reasoned = "", False
    async for part in registry.chat_backend(model, limits=_LIMITS).stream(request):
        if isinstance(part, TextDelta):
            text += part.text
        elif isinstance(part, ReasoningDelta):
            has_reasoned = True
        elif isinstance(part, Usage):
            return f"answered “{text.strip()[:80]}”" if text else _without_text(part, has_reasoned)
    raise CutOff("The stream ended without its usage.")


def _without_text(usage: Usage, has_reasoned: bool) -> str:  # noqa: FBT001
    if has_reasoned:
        return "answered with reasoning only; that is fine for so short a limit"
    return f"ended with no text ({usage.stop_reason})"


async def _probe_embedding(model: EmbeddingModel) -> str:
    vectors = await registry.embedding_backend(model, limits=_LIMITS).embed_queries(["ready"])
    return f"returned a vector of {vectors.shape[1]} dimensions"


async def _probe_rerank(model: RerankModel) -> str:
    texts = ["The connection is ready.", "Lunch is at noon."]
    ranked = await registry.rerank_backend(model, limits=_LIMITS).rerank("ready?", texts, top_n=2)
    return f"ranked {len(ranked)} texts"
