"""An address that is too long gets an answer."""

from __future__ import annotations

from typing import Any

import pytest
from twisted.internet.testing import StringTransport

from secondbrain.long_requests import AnsweringChannel


@pytest.mark.parametrize("length", [20_000, 200_000])
@pytest.mark.parametrize("step", [1_400, 65_536])
def test_an_address_that_is_too_long_is_answered_before_the_end(length: int, step: int) -> None:
    channel: Any = AnsweringChannel()  # type: ignore[no-untyped-call]
    line: Any = StringTransport()  # type: ignore[no-untyped-call]
    channel.makeConnection(line)
    sent = b"GET /api/search?q=" + b"x" * length + b" HTTP/1.1\r\nHost: x\r\n\r\n"
    for start in range(0, len(sent), step):
        if not line.disconnecting:
            channel.dataReceived(sent[start : start + step])
    head, _blank, body = line.value().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 414 ")
    assert f"Content-Length: {len(body)}".encode() in head
    assert b"at most 16,384 bytes" in body
    assert line.disconnecting
