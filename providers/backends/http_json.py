"""One JSON request and its JSON reply, for servers without an SDK of ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from providers.backends.translation import error_for_response, refuse_other_than, translated
from providers.core.errors import ProtocolError
from providers.core.types import Endpoint
from providers.egress import guarded_client

_FIRST_FAILURE = 300


async def post_json(endpoint: Endpoint, path: str, payload: Mapping[str, Any]) -> Any:
    """The reply of one POST to `<base URL><path>`. Raises ProviderError."""
    headers = authorization(endpoint)
    return await _reply(endpoint, path, "POST", json=payload, headers=headers)


async def get_json(endpoint: Endpoint, path: str, *, headers: Mapping[str, str]) -> Any:
    """The reply of one GET of `<base URL><path>`. Raises ProviderError."""
    return await _reply(endpoint, path, "GET", headers=headers)


async def _reply(endpoint: Endpoint, path: str, method: str, **request: Any) -> Any:
    with translated(endpoint):
        async with guarded_client(endpoint) as client:
            url = f"{endpoint.base_url}{path}"
            response = await client.request(method, url, **request)
            if response.status_code >= _FIRST_FAILURE:
                raise error_for_response(response, url=url)
            refuse_other_than("application/json", response)
            return response.json()


def authorization(endpoint: Endpoint) -> dict[str, str]:
    """The header with the key, or none for a server that needs no key."""
    return {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}


def field_of(reply: Any, name: str, kind: type) -> Any:
    """A field of a reply. Raises ProtocolError when it is missing or of another kind."""
    value = reply.get(name) if isinstance(reply, dict) else None
    if not isinstance(value, kind):
        raise ProtocolError(f"The reply has no usable {name!r}: it is not of the expected form.")
    return value
