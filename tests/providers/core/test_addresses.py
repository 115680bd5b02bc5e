"""Which addresses may be called: the spellings that have fooled other products."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.core.addresses import embedded_ipv4, place_of, refusal, verdict_on


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("93.184.216.34", "public"),
        ("2606:2800:220:1:248:1893:25c8:1946", "public"),
        ("::ffff:93.184.216.34", "public"),
        ("64:ff9b::5db8:d822", "public"),
        ("2002:5db8:d822::", "public"),
        # Loopback and private, plain and wrapped.
        ("127.0.0.1", "private"),
        ("127.255.255.254", "private"),
        ("0.0.0.0", "private"),
        ("::", "private"),
        ("::1", "private"),
        ("::127.0.0.1", "private"),
        ("::ffff:7f00:1", "private"),
        ("::ffff:10.1.2.3", "private"),
        ("64:ff9b::7f00:1", "private"),
        ("64:ff9b:1::10.0.0.1", "private"),
        ("2002:7f00:1::", "private"),
        ("2002:c0a8:101::", "private"),
        ("10.0.0.1", "private"),
        ("172.16.0.1", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "private"),
        ("198.18.0.1", "private"),
        ("fd12:3456::1", "private"),
        # Metadata, link-local, multicast, reserved: never.
        ("169.254.169.254", "never"),
        ("169.254.1.1", "never"),
        ("64:ff9b::a9fe:a9fe", "never"),
        ("::ffff:a9fe:a9fe", "never"),
        ("2002:a9fe:a9fe::", "never"),
        ("::169.254.169.254", "never"),
        ("fd00:ec2::254", "never"),
        ("fe80::1", "never"),
        ("fe80::1%eth0", "never"),
        ("100.100.100.200", "never"),
        ("168.63.129.16", "never"),
        ("224.0.0.1", "never"),
        ("ff02::1", "never"),
        ("255.255.255.255", "never"),
        ("240.0.0.1", "never"),
    ],
)
def test_verdicts(text: str, verdict: str) -> None:
    assert verdict_on(ip_address(text)) == verdict


@given(st.ip_addresses(v=4))
def test_a_wrapped_address_is_never_judged_more_mildly(inner: object) -> None:
    number = int(ip_address(str(inner)))
    plain = verdict_on(ip_address(str(inner)))
    wrapped = [
        ip_address((0xFFFF << 32) | number),
        ip_address((0x64FF9B << 96) | number),
        ip_address((0x2002 << 112) | (number << 80)),
    ]
    for address in wrapped:
        assert embedded_ipv4(address) == ip_address(str(inner))
        assert verdict_on(address) == plain


def why(
    text: str, *, port: int = 8080, allowed: tuple[str, ...] = (), trusted: bool = False
) -> str:
    refused = refusal(
        ip_address(text), host="models.lan", port=port, allowed=allowed, is_trusted=trusted
    )
    return f"{refused.reason} | {refused.mend}" if refused else ""


@pytest.mark.parametrize(
    ("text", "port", "mend", "is_lifted"),
    [
        ("10.0.0.1", 8080, "If it is meant to be called, add models.lan:8080", True),
        ("93.184.216.34", 9, "Correct the port of the base URL.", True),
        ("10.0.0.1", 9, "Correct the port of the base URL.", True),
        ("169.254.169.254", 80, "No setting allows it: correct the base URL.", False),
    ],
)
def test_each_refusal_names_what_does_mend_it(
    text: str, port: int, mend: str, *, is_lifted: bool
) -> None:
    refused = why(text, port=port)
    assert mend in refused
    assert ("ALLOWED_PRIVATE_ENDPOINTS" in refused) == is_lifted
    assert (why(text, port=port, allowed=(f"models.lan:{port}",)) == "") == is_lifted


def test_a_public_address_needs_no_leave() -> None:
    assert why("93.184.216.34") == ""


def test_a_private_address_needs_its_host_and_port_on_the_list() -> None:
    assert "not in ALLOWED_PRIVATE_ENDPOINTS" in why("10.0.0.1")
    assert "not in ALLOWED_PRIVATE_ENDPOINTS" in why("10.0.0.1", allowed=("models.lan:80",))
    assert "not in ALLOWED_PRIVATE_ENDPOINTS" in why("10.0.0.1", allowed=("models.lan",))
    assert why("10.0.0.1", allowed=(" Models.LAN:8080 ",)) == ""


def test_an_address_of_the_environment_may_be_private() -> None:
    assert why("10.0.0.1", trusted=True) == ""


@pytest.mark.parametrize("text", ["169.254.169.254", "64:ff9b::a9fe:a9fe", "fe80::1"])
def test_metadata_is_refused_whatever_is_allowed(text: str) -> None:
    assert "never called" in why(text, allowed=("models.lan:8080",), trusted=True)


@pytest.mark.parametrize("port", [22, 25, 5432, 6379])
def test_ports_of_other_services_are_refused(port: int) -> None:
    assert "another kind of service" in why("93.184.216.34", port=port)
    assert "another kind of service" in why("10.0.0.1", port=port, trusted=True)


def test_places_are_written_in_one_way() -> None:
    assert place_of("LocalHost.", 80) == "localhost:80"
    assert place_of("::1", 80) == "[::1]:80"
