"""Whether calls may go to a base URL, as far as its spelling tells. Loads no HTTP client."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from urllib.parse import urlsplit

from django.conf import settings

from providers.core.addresses import Refusal, refusal

_DEFAULT_PORTS = {"http": 80, "https": 443}
_ANY_PUBLIC = ip_address("1.1.1.1")


def refusal_of(base_url: str, *, is_trusted: bool) -> Refusal | None:
    """Why a call to `base_url` would be refused, as far as its spelling tells.

    `base_url` is a normalised one. Nothing is asked of the network: what a name stands for
    shows at the call alone.
    """
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 443)
    numeric = "127.0.0.1" if host.rstrip(".") == "localhost" else host.rstrip(".")
    try:
        found = socket.getaddrinfo(numeric, port, flags=socket.AI_NUMERICHOST)
        address = ip_address(found[0][4][0])
    except (socket.gaierror, UnicodeError):
        # A name is taken for a public one, so that its port is judged.
        address = _ANY_PUBLIC
    allowed = settings.ALLOWED_PRIVATE_ENDPOINTS
    return refusal(address, host=host, port=port, allowed=allowed, is_trusted=is_trusted)
