"""Answers for requests that are too long, where Twisted hangs up without a word or takes all."""

from __future__ import annotations

from typing import Any

from twisted.web.http import HTTPChannel

from vault.uploads import LARGEST_ARCHIVE

# The largest archive, and room for the fields and boundaries around it.
LARGEST_BODY = LARGEST_ARCHIVE + 1_000_000


def _answer(status: str, said: str) -> bytes:
    body = f"{said}\n".encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


_LONG_ADDRESS = _answer(
    "414 URI Too Long",
    f"The address of a request has at most {HTTPChannel.MAX_LENGTH:,} bytes. "
    "Ask something shorter.",
)
_LONG_BODY = _answer(
    "413 Content Too Large", f"A request has at most {LARGEST_BODY:,} bytes. Send less at once."
)


class AnsweringChannel(HTTPChannel):
    """Twisted's side of a connection over HTTP/1.1, which is all that is served here.

    Bodies are kept in a file until they are complete, before anybody knows who sends them.
    """

    _body = 0
    _is_refused = False

    def dataReceived(self, data: bytes) -> None:  # noqa: N802
        """Nothing more is read of a request that was refused."""
        if not self._is_refused:
            super().dataReceived(data)  # type: ignore[no-untyped-call]

    def lineLengthExceeded(self, line: bytes) -> None:  # noqa: N802
        """Say why the connection ends: the first line or a header is too long."""
        self._refuse(_LONG_ADDRESS)

    def allHeadersReceived(self) -> None:  # noqa: N802
        """Refuse a body that says it is too long before any of it is read."""
        self._body = 0
        length: int | None = self.length
        if length is not None and length > LARGEST_BODY:
            self._refuse(_LONG_BODY)
        else:
            super().allHeadersReceived()  # type: ignore[no-untyped-call]

    def rawDataReceived(self, data: bytes) -> None:  # noqa: N802
        """Refuse a body that does not say how long it is, when it is too long."""
        self._body += len(data)
        if self._body > LARGEST_BODY:
            self._refuse(_LONG_BODY)
        elif not self._is_refused:
            super().rawDataReceived(data)

    def _refuse(self, answer: bytes) -> None:
        self._is_refused = True
        connection: Any = self.transport
        connection.write(answer)
        connection.loseConnection()
