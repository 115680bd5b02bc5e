"""The one door through which calls leave: addresses are checked, redirects are not
followed, proxies of the environment are not used, replies have a limit."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from ipaddress import ip_address
from typing import cast

import httpx2
from django.conf import settings

from providers.core.addresses import Address, refusal
from providers.core.errors import EgressRefused, ProtocolError
from providers.core.types import Endpoint

MOST_BYTES = 64_000_000
"""Of one reply. An answer of a million characters, wrapped in JSON, is well below."""

_DEFAULT_PORTS = {"http": 80, "https": 443}

Resolve = Callable[[str, int], Awaitable[list[Address]]]


async def resolve(host: str, port: int) -> list[Address]:
    """Every address of a host. Odd spellings (`127.1`, `0x7f000001`) are addresses too."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host.rstrip("."), port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise httpx2.ConnectError(f"the name {host} cannot be resolved") from error
    return list(dict.fromkeys(ip_address(place[0]) for *_, place in found))


def guarded_client(endpoint: Endpoint, *, resolver: Resolve = resolve) -> httpx2.AsyncClient:
    """A client for one call, or one stream, to `endpoint`; close it when done.

    Made per call: a client belongs to one event loop, and edges run calls in short ones.
    """
    limits = endpoint.limits
    return httpx2.AsyncClient(
        transport=GuardedTransport(endpoint, resolver=resolver),
        follow_redirects=False,
        trust_env=False,
        timeout=httpx2.Timeout(limits.first_content, connect=limits.connect),
        headers={"Accept-Encoding": "identity"},
    )


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Resolves a host once, checks every address, and connects to one that was checked.

    A name that resolves to something else a moment later changes nothing: the connection
    goes to the address that was looked at.
    """

    def __init__(self, endpoint: Endpoint, *, resolver: Resolve = resolve) -> None:
        self._endpoint = endpoint
        self._resolver = resolver
        self._inner = httpx2.AsyncHTTPTransport(verify=_tls(), trust_env=False, retries=0)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        addresses = await self._checked_addresses(request.url)
        failure: httpx2.TransportError | None = None
        for address in addresses:
            try:
                response = await self._inner.handle_async_request(_pinned(request, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
            else:
                response.stream = _LimitedStream(cast("httpx2.AsyncByteStream", response.stream))
                return response
        raise failure or httpx2.ConnectError("the name has no address")

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _checked_addresses(self, url: httpx2.URL) -> list[Address]:
        if url.scheme not in _DEFAULT_PORTS:
            raise EgressRefused(f"{url.scheme}: is not called; only http and https are.")
        if url.userinfo:
            raise EgressRefused("An address with a user name or password in it is not called.")
        port = url.port or _DEFAULT_PORTS[url.scheme]
        try:
            async with asyncio.timeout(self._endpoint.limits.connect):
                addresses = await self._resolver(url.host, port)
        except TimeoutError:
            raise httpx2.ConnectTimeout(f"the name {url.host} was not resolved in time") from None
        for address in addresses:
            refused = refusal(
                address,
                host=url.host,
                port=port,
                allowed=settings.ALLOWED_PRIVATE_ENDPOINTS,
                is_trusted=self._endpoint.is_trusted,
            )
            if refused is not None:
                raise EgressRefused(f"The call was refused: {refused.reason}.", mend=refused.mend)
        return addresses


class _LimitedStream(httpx2.AsyncByteStream):
    """Stops reading a reply that is longer than any model's."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST_BYTES
        async for chunk in self._stream:
            left -= len(chunk)
            if left < 0:
                raise ProtocolError("The reply is longer than 64 MB: that is no model's answer.")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def _pinned(request: httpx2.Request, address: Address) -> httpx2.Request:
    """The same request to one address; the certificate is still checked for the name."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=str(address)),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()
