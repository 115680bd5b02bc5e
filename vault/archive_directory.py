"""The table of contents of a zip archive, looked at before all of it is read into memory.

`zipfile` makes an object of each entry when it opens an archive, however many there are: an
archive of the largest size may name six million.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import IO

from vault.core.archives import ArchiveRefused

# Several times the files that are unpacked: what is left out stands in the table as well.
MOST_ENTRIES = 200_000
LARGEST_DIRECTORY = 64_000_000
_PIECE = 1 << 20
# Records of PKWARE's APPNOTE, 4.3.12 to 4.3.16.
_ENTRY = b"PK\x01\x02"
_END, _END_SIZE = b"PK\x05\x06", 22
_LONGEST_COMMENT = 0xFFFF
_LONG_END, _LONG_END_SIZE = b"PK\x06\x06", 56
_LOCATOR, _LOCATOR_SIZE = b"PK\x06\x07", 20
_BOTH = _LONG_END_SIZE + _LOCATOR_SIZE


@dataclass(frozen=True, slots=True)
class _Directory:
    """Where the table stands, and how many entries it claims. Bytes."""

    start: int
    size: int
    claimed: int


def refuse_long_directory(archive: IO[bytes], *, most_entries: int) -> None:
    """Raise ArchiveRefused when the archive names too many files to be opened.

    Of what is no archive at all nothing is said: opening it does. Leaves `archive` at its start.
    """
    found = _find_directory(archive)
    if found is not None:
        is_long = found.claimed > most_entries or found.size > LARGEST_DIRECTORY
        # The number may be a lie, the entries themselves are what is read.
        if is_long or _count_entries(archive, found) > most_entries:
            raise ArchiveRefused(
                f"The archive's table of contents is too long: {most_entries:,} files are the "
                "most, with those that are left out. Nothing was unpacked. Pack the notes alone, "
                "or in parts."
            )
    archive.seek(0)


def _find_directory(archive: IO[bytes]) -> _Directory | None:
    """Found as `zipfile` finds it; None where that refuses the archive."""
    length = archive.seek(0, os.SEEK_END)
    tail_start = max(0, length - _BOTH - _END_SIZE - _LONGEST_COMMENT)
    archive.seek(tail_start)
    tail = archive.read()
    at = _end_in(tail)
    if at < 0 or len(tail) - at < _END_SIZE:
        return None
    claimed, size = struct.unpack_from("<HL", tail, at + 10)
    end = tail_start + at
    long_end = tail[max(0, at - _BOTH) : at]
    is_long = long_end.startswith(_LONG_END) and long_end[_LONG_END_SIZE:].startswith(_LOCATOR)
    if is_long and len(long_end) == _BOTH:
        claimed, size = struct.unpack_from("<QQ", long_end, 32)
        end -= _BOTH
    return _Directory(end - size, size, claimed) if size <= end else None


def _end_in(tail: bytes) -> int:
    """Where the last record begins: at the very end, or before a comment; -1 for nowhere."""
    last = tail[-_END_SIZE:]
    if last.startswith(_END) and last.endswith(b"\0\0"):
        return len(tail) - len(last)
    return tail.rfind(_END)


def _count_entries(archive: IO[bytes], found: _Directory) -> int:
    """At least as many as there are: a name may hold the sign of an entry."""
    archive.seek(found.start)
    left, count, kept = found.size, 0, b""
    while left > 0 and (piece := archive.read(min(_PIECE, left))):
        left -= len(piece)
        count += (kept + piece).count(_ENTRY)
        kept = (kept + piece)[-len(_ENTRY) + 1 :]
    return count
