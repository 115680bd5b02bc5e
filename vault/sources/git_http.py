"""The way to a git server: every address is looked at before a connection is made.

The same rules as for models: private and link-local places are called only when the
server's settings name them, no redirect is followed, no proxy of the environment used.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from typing import Any

import urllib3
from django.conf import settings
from dulwich.client import Urllib3HttpGitClient
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import NameResolutionError, NewConnectionError

from providers.core.addresses import Address, place_of, refusal
from vault.core.git_addresses import GitAddress

CONNECT_SECONDS = 10.0
SILENT_SECONDS = 60.0
# Of one fetch: a server that drips must not hold a worker for ever.
MOST_SECONDS = 900.0
MOST_BYTES = 1_000_000_000


class AddressRefused(Exception):
    """The server's address may not be called from here. `str()` says why and what to do."""


class FetchTooLarge(Exception):
    """The server sends more, or for longer, than a vault may cost."""


def check_address(address: GitAddress) -> None:
    """Refuse what is not encrypted, except at places the settings name.

    Raises AddressRefused. Nothing is asked of the network.
    """
    place = place_of(address.host, address.port)
    allowed = {entry.strip().lower() for entry in settings.ALLOWED_PRIVATE_ENDPOINTS}
    if not address.is_encrypted and place not in allowed:
        raise AddressRefused(
            "Over http anybody between could read and change the notes: use https. A server in "
            f"your own network may be called over http when {place} is listed in "
            "ALLOWED_PRIVATE_ENDPOINTS."
        )


def git_client(address: GitAddress, *, token: str = "") -> GuardedGitClient:
    """A client for one repository. `token` is `user:password`, or a token alone."""
    check_address(address)
    user, colon, password = token.partition(":")
    # Hosts that know tokens take any user name beside one.
    username, secret = (user, password) if colon else ("oauth2", token)
    pool = urllib3.PoolManager(
        timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=SILENT_SECONDS),
        retries=urllib3.Retry(total=0, redirect=0, raise_on_redirect=False),
        headers={"User-Agent": "git/2 (SecondBrain)"},
    )
    pool.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}
    return GuardedGitClient(
        address.url,
        pool_manager=pool,
        username=username if token else None,
        password=secret if token else None,
        quiet=True,
    )


class GuardedGitClient(Urllib3HttpGitClient):
    """Stops reading what is too long, in bytes or in seconds."""

    _left = MOST_BYTES
    _until = 0.0

    def _http_request(self, *arguments: Any, **options: Any) -> Any:
        self._until = self._until or time.monotonic() + MOST_SECONDS
        response, read = super()._http_request(*arguments, **options)
        return response, self._limited(read)

    def _limited(self, read: Callable[[int], bytes]) -> Callable[[int], bytes]:
        def limited(size: int) -> bytes:
            data = read(size)
            self._left -= len(data)
            if self._left < 0:
                raise FetchTooLarge(f"It sends more than {MOST_BYTES // 10**9} GB.")
            if time.monotonic() > self._until:
                raise FetchTooLarge(f"It took longer than {MOST_SECONDS / 60:.0f} minutes.")
            return data

        return limited


def _connected(connection: HTTPConnection) -> socket.socket:
    """A socket to an address of the connection's host that was looked at."""
    failure: Exception | None = None
    for address in _checked(connection):
        try:
            return socket.create_connection(
                (str(address), connection.port), timeout=CONNECT_SECONDS
            )
        except OSError as error:
            failure = NewConnectionError(connection, f"cannot connect: {error}")
    raise failure or NewConnectionError(connection, "the name has no address")


def _checked(connection: HTTPConnection) -> Iterator[Address]:
    host = connection.host.strip("[]")
    try:
        found = socket.getaddrinfo(host.rstrip("."), connection.port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        reason = error if isinstance(error, socket.gaierror) else socket.gaierror(str(error))
        raise NameResolutionError(host, connection, reason) from error
    addresses = list(dict.fromkeys(ip_address(place[0]) for *_, place in found))
    allowed = settings.ALLOWED_PRIVATE_ENDPOINTS
    for address in addresses:
        refused = refusal(
            address, host=host, port=connection.port, allowed=allowed, is_trusted=False
        )
        if refused is not None:
            raise AddressRefused(f"{refused.reason.capitalize()}. {refused.mend}")
    yield from addresses


class _HttpConnection(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        return _connected(self)


class _HttpsConnection(HTTPSConnection):
    def _new_conn(self) -> socket.socket:
        return _connected(self)


class _HttpPool(HTTPConnectionPool):
    ConnectionCls = _HttpConnection


class _HttpsPool(HTTPSConnectionPool):
    ConnectionCls = _HttpsConnection
