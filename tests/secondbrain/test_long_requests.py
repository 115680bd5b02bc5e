"""A request that is too long gets an answer."""

from __future__ import annotations

from typing import Any

import pytest
from twisted.internet.error import ConnectionDone
from twisted.internet.testing import StringTransport

from secondbrain import long_requests
from secondbrain.long_requests import LARGEST_BODY, AnsweringChannel


def channel_and_line() -> tuple[Any, Any]:
    channel: Any = AnsweringChannel()  # type: ignore[no-untyped-call]
    line: Any = StringTransport()  # type: ignore[no-untyped-call]
    channel.makeConnection(line)
    return channel, line


@pytest.mark.parametrize("length", [20_000, 200_000])
@pytest.mark.parametrize("step", [1_400, 65_536])
def test_an_address_that_is_too_long_is_answered_before_the_end(length: int, step: int) -> None:
    channel, line = channel_and_line()
    sent = b"GET /api/search?q=" + b"x" * length + b" HTTP/1.1\r\nHost: x\r\n\r\n"
    for start in range(0, len(sent), step):
        if not line.disconnecting:
            channel.dataReceived(sent[start : start + step])
    head, _blank, body = line.value().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 414 ")
    assert f"Content-Length: {len(body)}".encode() in head
    assert b"at most 16,384 bytes" in body
    assert line.disconnecting


@pytest.mark.parametrize("rest", [b"", b"x" * 5_000])
def test_a_body_that_is_too_long_is_refused_before_it_is_read(rest: bytes) -> None:
    channel, line = channel_and_line()
    head = f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {LARGEST_BODY + 1}\r\n\r\n".encode()
    channel.dataReceived(head + rest)
    channel.dataReceived(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert line.value().startswith(b"HTTP/1.1 413 ")
    assert line.value().count(b"HTTP/1.1 ") == 1
    assert line.disconnecting
    channel.connectionLost(ConnectionDone())


def test_a_body_in_pieces_is_refused_when_it_becomes_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(long_requests, "LARGEST_BODY", 10_000)
    channel, line = channel_and_line()
    channel.dataReceived(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _piece in range(9):
        channel.dataReceived(b"3e8\r\n" + b"x" * 1_000 + b"\r\n")
        assert not line.disconnecting
    for _piece in range(3):
        channel.dataReceived(b"3e8\r\n" + b"x" * 1_000 + b"\r\n")
    assert line.value().startswith(b"HTTP/1.1 413 ")
    assert line.value().count(b"HTTP/1.1 ") == 1
    assert line.disconnecting
    channel.connectionLost(ConnectionDone())
