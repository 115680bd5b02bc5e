"""The way to a git server: every address is looked at before a connection is made.

The same rules as for models: private and link-local places are called only when the
server's settings name them, no redirect is followed, no proxy of the environment used.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

import urllib3
from dulwich.client import Urllib3HttpGitClient
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import NameResolutionError, NewConnectionError

from providers.core.addresses import Address, place_of, refusal
from vault.core.git_addresses import GitAddress
from vault.git.trouble import AddressRefused, FetchTooLarge

CONNECT_SECONDS = 10.0
SILENT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Most:
    """What a server may cost: bytes that it sends, and seconds that it takes for them."""

    data: int
    seconds: float


def check_address(address: GitAddress, *, allowed: Collection[str]) -> None:
    """Refuse what is not encrypted, except at the `allowed` places.

    Raises AddressRefused. Nothing is asked of the network.
    """
    place = place_of(address.host, address.port)
    if not address.is_encrypted and place not in {entry.strip().lower() for entry in allowed}:
        raise AddressRefused(
            "Over http anybody between could read and change the notes: use https. A server in "
            f"your own network may be called over http when {place} is listed in "
            "ALLOWED_PRIVATE_ENDPOINTS."
        )


def git_client(
    address: GitAddress, *, allowed: Collection[str], most: Most, token: str = ""
) -> GuardedGitClient:
    """A client for one repository; `allowed` are private places that it may call.

    `token` is `user:password`, or a token alone.
    """
    check_address(address, allowed=allowed)
    user, colon, password = token.partition(":")
    # Hosts that know tokens take any user name beside one.
    username, secret = (user, password) if colon else ("oauth2", token)
    pool = urllib3.PoolManager(
        timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=SILENT_SECONDS),
        retries=urllib3.Retry(total=0, redirect=0, raise_on_redirect=False),
        headers={"User-Agent": "git/2 (SecondBrain)"},
    )
    pool.pool_classes_by_scheme = {"http": _http_pool(allowed), "https": _https_pool(allowed)}
    client = GuardedGitClient(
        address.url,
        pool_manager=pool,
        username=username if token else None,
        password=secret if token else None,
        quiet=True,
    )
    client.most, client.left = most, most.data
    return client


class GuardedGitClient(Urllib3HttpGitClient):
    """Stops reading what is too long, in bytes or in seconds."""

    most: Most
    left: int
    _until = 0.0

    def _http_request(self, *arguments: Any, **options: Any) -> Any:
        self._until = self._until or time.monotonic() + self.most.seconds
        response, read = super()._http_request(*arguments, **options)
        return response, self._limited(read)

    def _limited(self, read: Callable[[int], bytes]) -> Callable[[int], bytes]:
        def limited(size: int) -> bytes:
            data = read(size)
            self.left -= len(data)
            if self.left < 0:
                raise FetchTooLarge(f"It sends more than {self.most.data / 10**6:,.0f} MB.")
            if time.monotonic() > self._until:
                raise FetchTooLarge(
                    f"It took longer than {self.most.seconds:.0f} s. A larger JOB_TIMEOUT gives "
                    "it more time."
                )
            return data

        return limited


def _connected(connection: HTTPConnection, allowed: Collection[str]) -> socket.socket:
    """A socket to an address of the connection's host that was looked at."""
    failure: Exception | None = None
    for address in _checked(connection, allowed):
        try:
            return socket.create_connection(
                (str(address), connection.port), timeout=CONNECT_SECONDS
            )
        except OSError as error:
            failure = NewConnectionError(connection, f"cannot connect: {error}")
    raise failure or NewConnectionError(connection, "the name has no address")


def _checked(connection: HTTPConnection, allowed: Collection[str]) -> Iterator[Address]:
    host = connection.host.strip("[]")
    try:
        found = socket.getaddrinfo(host.rstrip("."), connection.port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        reason = error if isinstance(error, socket.gaierror) else socket.gaierror(str(error))
        raise NameResolutionError(host, connection, reason) from error
    addresses = list(dict.fromkeys(ip_address(place[0]) for *_, place in found))
    for address in addresses:
        refused = refusal(
            address, host=host, port=connection.port, allowed=allowed, is_trusted=False
        )
        if refused is not None:
            raise AddressRefused(f"{refused.reason.capitalize()}. {refused.mend}")
    yield from addresses


def _http_pool(allowed: Collection[str]) -> type[HTTPConnectionPool]:
    class Connection(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return _connected(self, allowed)

    class Pool(HTTPConnectionPool):
        ConnectionCls = Connection

    return Pool


def _https_pool(allowed: Collection[str]) -> type[HTTPSConnectionPool]:
    class Connection(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return _connected(self, allowed)

    class Pool(HTTPSConnectionPool):
        ConnectionCls = Connection

    return Pool
