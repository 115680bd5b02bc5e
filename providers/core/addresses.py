"""Which network addresses a call may go to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Literal

Address = IPv4Address | IPv6Address
Verdict = Literal["public", "private", "never"]

# Services that hand out the machine's own credentials, of several clouds; most are
# link-local, which is refused as a whole.
_METADATA = frozenset(
    ip_address(text)
    for text in (
        "169.254.169.254",
        "fd00:ec2::254",
        "fd20:ce::254",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
    )
)
_NAT64 = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"))
_COMPATIBLE = ip_network("::/96")
_RESERVED = ip_network("240.0.0.0/4")
_LAST_32_BITS = 0xFFFF_FFFF
# Ports of services that are no web server: a request to them is an attack on them.
OTHER_SERVICES = frozenset(
    {1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 53, 69, 110, 111, 135, 137, 138, 139, 143}
    | {161, 389, 445, 465, 514, 587, 636, 993, 995, 1433, 1521, 2049, 2375, 2376, 3306, 3389}
    | {5432, 5672, 5900, 6379, 6380, 6667, 9042, 9200, 11211, 27017}
)


def verdict_on(address: Address) -> Verdict:
    """Whether an address is public, private, or never to be called.

    Looks at the IPv4 address inside an IPv6 one as well (mapped, compatible, NAT64, 6to4):
    `ipaddress` alone calls `64:ff9b::7f00:1` and `::127.0.0.1` global.
    """
    inner = embedded_ipv4(address)
    return _verdict_on_plain(address if inner is None else inner)


def embedded_ipv4(address: Address) -> IPv4Address | None:
    """The IPv4 address that packets to this IPv6 address may end up at, if any."""
    if isinstance(address, IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if any(_plain(address) in network for network in _NAT64):
        return IPv4Address(int(address) & _LAST_32_BITS)
    # `::` and `::1` lie in the same range and are no IPv4 addresses.
    if _plain(address) in _COMPATIBLE and int(address) > 1:
        return IPv4Address(int(address) & _LAST_32_BITS)
    return None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a connection may not be made, as part of a sentence, and what would mend it."""

    reason: str
    mend: str


def refusal(
    address: Address, *, host: str, port: int, allowed: Collection[str], is_trusted: bool
) -> Refusal | None:
    """Why a connection to `address` is refused, or None when it may be made.

    `allowed` holds private places as `host:port`; `is_trusted` allows every private one.
    """
    verdict = verdict_on(address)
    place = place_of(host, port)
    if verdict == "never":
        return Refusal(
            f"{place} is {address}, an address that is never called (link-local, metadata)",
            "No setting allows it: correct the base URL.",
        )
    is_listed = place in {entry.strip().lower() for entry in allowed}
    if port in OTHER_SERVICES and not is_listed:
        return Refusal(
            f"port {port} belongs to another kind of service",
            "Correct the port of the base URL. If a model server does listen there, add "
            f"{place} to ALLOWED_PRIVATE_ENDPOINTS and restart.",
        )
    if verdict == "private" and not (is_trusted or is_listed):
        return Refusal(
            f"{place} is {address}, a private address that is not in ALLOWED_PRIVATE_ENDPOINTS",
            f"If it is meant to be called, add {place} to ALLOWED_PRIVATE_ENDPOINTS and restart.",
        )
    return None


def place_of(host: str, port: int) -> str:
    """`host:port` in lower case, with brackets around an IPv6 address."""
    host = host.lower().rstrip(".")
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _verdict_on_plain(address: Address) -> Verdict:
    if _plain(address) in _METADATA or address.is_link_local or address.is_multicast:
        return "never"
    if isinstance(address, IPv4Address) and address in _RESERVED:
        return "never"
    if address.is_unspecified or not address.is_global:
        return "private"
    return "public"


def _plain(address: Address) -> Address:
    """Without the scope of an interface, which would make it unequal to itself."""
    return IPv6Address(int(address)) if isinstance(address, IPv6Address) else address
