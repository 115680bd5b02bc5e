"""An answer for addresses that are too long, where Twisted hangs up without a word."""

from __future__ import annotations

from typing import Any

from twisted.web.http import HTTPChannel

_SAID = (
    f"The address of a request has at most {HTTPChannel.MAX_LENGTH:,} bytes. "
    "Ask something shorter.\n"
).encode()
_ANSWER = (
    b"HTTP/1.1 414 URI Too Long\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Content-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(_SAID), _SAID)
)


class AnsweringChannel(HTTPChannel):
    """Twisted's side of a connection over HTTP/1.1, which is all that is served here."""

    def lineLengthExceeded(self, line: bytes) -> None:  # noqa: N802
        """Say why the connection ends: the first line or a header is too long."""
        connection: Any = self.transport
        connection.write(_ANSWER)
        connection.loseConnection()
