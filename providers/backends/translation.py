"""Exceptions of the SDKs and of HTTP, said as our own errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2

from providers.core.errors import ProtocolError, ProviderError, Silent, Unreachable
from providers.core.failures import error_for_status, error_in_stream, seconds_to_wait
from providers.core.redaction import redact
from providers.core.types import Endpoint

_FIRST_FAILURE = 300
# ValueError: what is no JSON, or no UTF-8.
_EXPECTED = (
    ProviderError,
    httpx2.HTTPError,
    httpx2.InvalidURL,
    httpx2.StreamError,
    ValueError,
)


@contextmanager
def translated(endpoint: Endpoint, *sdk_errors: type[Exception]) -> Iterator[None]:
    """Turn what an SDK or HTTP raises inside into a ProviderError without any key in it.

    The original is not chained: its text and its request may hold the key.
    """
    caught: tuple[type[Exception], ...] = (*_EXPECTED, *sdk_errors)
    try:
        yield
    except caught as error:
        raise _redacted(as_provider_error(error, endpoint), endpoint) from None


def as_provider_error(error: BaseException, endpoint: Endpoint) -> ProviderError:
    """What an exception means. Looks through the chain: SDKs wrap what HTTP raised."""
    chain = _chain(error)
    for link in chain:
        if isinstance(link, ProviderError):
            return link
    for link in chain:
        if isinstance(link, httpx2.TransportError):
            return _broken_connection(link, endpoint)
    return _said_by_server(error, endpoint)


def error_for_response(response: httpx2.Response, *, url: str) -> ProviderError:
    """The error for a failed reply whose body has been read."""
    return error_for_status(
        response.status_code,
        body=response.content,
        url=url,
        retry_after=seconds_to_wait(response.headers.get("retry-after")),
    )


def refuse_other_than(content_type: str, response: httpx2.Response) -> None:
    """Raise ProtocolError when a reply declares itself to be something else.

    A login page or a proxy's error page comes with status 200 as well. A reply that
    declares nothing is given the benefit of the doubt.
    """
    declared = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if declared in {"text/html", "application/xhtml+xml"} or (
        declared == "application/json" and content_type != declared
    ):
        raise ProtocolError(
            f"{_shown(response.url)} answered with {declared} instead of {content_type}."
        )


def _said_by_server(error: BaseException, endpoint: Endpoint) -> ProviderError:
    response = getattr(error, "response", None)
    body = getattr(error, "body", None)
    if isinstance(response, httpx2.Response) and response.status_code >= _FIRST_FAILURE:
        return error_for_response(response, url=_shown(response.url))
    if body is not None:
        return error_in_stream(body, url=endpoint.base_url)
    return ProtocolError(f"{endpoint.base_url} sent data that is not what a model server sends.")


def _broken_connection(error: httpx2.TransportError, endpoint: Endpoint) -> ProviderError:
    place = endpoint.base_url
    if isinstance(error, httpx2.ConnectTimeout | httpx2.PoolTimeout):
        return Unreachable(f"{place} did not accept a connection in {endpoint.limits.connect:g} s.")
    if isinstance(error, httpx2.TimeoutException):
        return Silent(f"{place} accepted the call and then sent nothing.")
    if isinstance(error, httpx2.ConnectError):
        return Unreachable(f"{place} cannot be reached: {error or 'connection refused'}.")
    return Unreachable(f"The connection to {place} broke.")


def _chain(error: BaseException) -> list[BaseException]:
    links: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in links:
        links.append(link)
        link = link.__cause__ or link.__context__
    return links


def _redacted(error: ProviderError, endpoint: Endpoint) -> ProviderError:
    text = redact(str(error), (endpoint.key,))
    clean: Any = type(error)(text, retry_after=error.retry_after, mend=error.mend)
    result: ProviderError = clean
    return result


def _shown(url: httpx2.URL) -> str:
    return str(url.copy_with(query=None, fragment=None))
