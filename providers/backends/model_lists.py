"""Asks a server which models it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from providers.backends.http_json import authorization, get_json
from providers.backends.retries import with_retries
from providers.core.errors import NotConfigured, WrongAddress
from providers.core.model_lists import ListedModel, parse_models
from providers.core.types import Endpoint

_ANTHROPIC_VERSION = "2023-06-01"
# The most that Anthropic gives in one reply; nobody has more.
_ANTHROPIC_PATH = "/v1/models?limit=1000"


async def list_models(endpoint: Endpoint) -> tuple[ListedModel, ...]:
    """Every model the server lists. Raises ProviderError; NotConfigured for a kind of
    server that has no list."""
    if endpoint.kind == "openai":
        return parse_models(await _get(endpoint, "/models", authorization(endpoint)))
    if endpoint.kind == "anthropic":
        headers = {"x-api-key": endpoint.key, "anthropic-version": _ANTHROPIC_VERSION}
        return parse_models(await _get(endpoint, _ANTHROPIC_PATH, headers))
    if endpoint.kind == "ollama":
        return await _of_ollama(endpoint)
    raise NotConfigured(f"A provider of kind {endpoint.kind!r} has no list of models.")


async def _of_ollama(endpoint: Endpoint) -> tuple[ListedModel, ...]:
    headers = authorization(endpoint)
    try:
        return parse_models(await _get(endpoint, "/api/tags", headers))
    except WrongAddress:
        # No Ollama, but something that speaks like OpenAI behind its URL.
        return parse_models(await _get(endpoint, "/v1/models", headers))


async def _get(endpoint: Endpoint, path: str, headers: Mapping[str, str]) -> Any:
    return await with_retries(
        lambda: get_json(endpoint, path, headers=headers), limits=endpoint.limits
    )
