"""The one door out: what it refuses before a connection is made, and where it connects."""

from __future__ import annotations

import asyncio
from ipaddress import ip_address

import httpx2
import pytest
from django.conf import settings

from providers import egress
from providers.core.addresses import Address
from providers.core.errors import EgressRefused, ProtocolError
from providers.core.types import Endpoint, TimeLimits
from providers.egress import guarded_client, resolve
from tests.contracts.server import Reply, serving

pytestmark = pytest.mark.asyncio
LIMITS = TimeLimits(connect=2, first_content=2, between_content=2)


class Resolver:
    """Answers with the addresses given, and counts how often it was asked."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = [ip_address(text) for text in addresses]
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> list[Address]:
        self.asked.append((host, port))
        return self.addresses


async def get(url: str, resolver: Resolver | None = None, *, trusted: bool = False) -> str:
    endpoint = Endpoint("openai", url, limits=LIMITS, is_trusted=trusted)
    async with guarded_client(endpoint, resolver=resolver or resolve) as client:
        return (await client.get(url)).text


@pytest.fixture
def nothing_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ALLOWED_PRIVATE_ENDPOINTS", [])


@pytest.mark.usefixtures("nothing_allowed")
@pytest.mark.parametrize(
    "url",
    [
        "http://127.1:8080/",
        "http://2130706433:8080/",
        "http://0x7f000001:8080/",
        "http://017700000001:8080/",
        "http://0:8080/",
        "http://127.0.0.1:8080/",
        "http://localhost:8080/",
        "http://localhost.:8080/",
        "http://[::]:8080/",
        "http://[::1]:8080/",
        "http://[::127.0.0.1]:8080/",
        "http://[::ffff:7f00:1]:8080/",
        "http://[64:ff9b::7f00:1]:8080/",
        "http://[2002:7f00:1::]:8080/",
        "http://100.64.0.1:8080/",
        "http://198.18.0.1:8080/",
        "http://10.0.0.1:8080/",
    ],
)
async def test_private_places_are_refused_in_every_spelling(url: str) -> None:
    with pytest.raises(EgressRefused, match="private address"):
        await get(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[fd00:ec2::254]/",
        "http://[fe80::1]/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
    ],
)
async def test_metadata_and_link_local_are_refused_even_when_trusted(url: str) -> None:
    with pytest.raises(EgressRefused, match="never called"):
        await get(url, trusted=True)


async def test_a_user_name_or_another_scheme_is_refused() -> None:
    with pytest.raises(EgressRefused, match="user name or password"):
        await get("https://good@93.184.216.34/")
    for url in ("file:///etc/passwd", "gopher://127.0.0.1/"):
        with pytest.raises((EgressRefused, httpx2.UnsupportedProtocol)):
            await get(url)


async def test_ports_of_other_services_are_refused() -> None:
    for port in (22, 5432, 6379):
        with pytest.raises(EgressRefused, match=f"port {port}"):
            await get(f"http://127.0.0.1:{port}/", trusted=True)


@pytest.mark.usefixtures("nothing_allowed")
async def test_one_private_address_among_public_ones_is_refused() -> None:
    with pytest.raises(EgressRefused):
        await get("http://models.example.com:8080/", Resolver("93.184.216.34", "127.0.0.1"))


async def test_a_listed_place_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(Reply([b"ok"])) as server:
        monkeypatch.setattr(settings, "ALLOWED_PRIVATE_ENDPOINTS", [f"127.0.0.1:{server.port}"])
        assert await get(f"{server.url}/v1") == "ok"
        monkeypatch.setattr(settings, "ALLOWED_PRIVATE_ENDPOINTS", ["127.0.0.1:1"])
        with pytest.raises(EgressRefused):
            await get(f"{server.url}/v1")
    assert len(server.received) == 1


async def test_the_address_that_was_checked_is_the_one_that_is_called() -> None:
    resolver = Resolver("127.0.0.1")
    async with serving(Reply([b"ok"])) as server:
        url = f"http://models.example.com:{server.port}/v1"
        assert await get(url, resolver, trusted=True) == "ok"
    # Looked up once; the name never reaches the system's resolver again.
    assert resolver.asked == [("models.example.com", server.port)]
    assert server.received[0].headers["host"] == f"models.example.com:{server.port}"


async def test_a_dead_address_does_not_hide_a_living_one() -> None:
    async with serving(Reply([b"ok"])) as server:
        url = f"http://models.example.com:{server.port}/"
        assert await get(url, Resolver("127.0.0.2", "127.0.0.1"), trusted=True) == "ok"


async def test_a_name_that_nobody_knows_is_unreachable() -> None:
    with pytest.raises(httpx2.ConnectError, match="cannot be resolved"):
        await get("http://quorvex.invalid/")
    with pytest.raises(httpx2.ConnectError, match="no address"):
        await get("http://models.example.com/", Resolver())


async def test_a_resolver_that_hangs_is_given_up() -> None:
    class Hanging(Resolver):
        async def __call__(self, host: str, port: int) -> list[Address]:
            await asyncio.Event().wait()
            raise AssertionError("unreachable")

    endpoint = Endpoint("openai", limits=TimeLimits(connect=0.05))
    async with guarded_client(endpoint, resolver=Hanging()) as client:
        with pytest.raises(httpx2.ConnectTimeout):
            await client.get("http://models.example.com/")


async def test_redirects_and_proxies_of_the_environment_are_not_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serving(Reply([b"proxied"])) as other:
        monkeypatch.setenv("HTTP_PROXY", other.url)
        monkeypatch.setenv("ALL_PROXY", other.url)
        redirect = Reply([b"moved"], 302, {"location": f"{other.url}/"})
        async with serving(redirect) as server:
            assert await get(f"{server.url}/", trusted=True) == "moved"
        assert other.received == []


async def test_an_endless_reply_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(egress, "MOST_BYTES", 10_000)
    async with serving(Reply([b"x" * 6_000] * 5)) as server:
        with pytest.raises(ProtocolError, match="longer than"):
            await get(f"{server.url}/", trusted=True)


async def test_only_the_guard_makes_http_clients() -> None:
    from pathlib import Path

    sources = Path(egress.__file__).parent.rglob("*.py")
    makers = [
        path.name
        for path in sources
        if any(text in path.read_text() for text in ("AsyncClient(", "httpx2.get(", "urlopen("))
    ]
    assert makers == ["egress.py"]
