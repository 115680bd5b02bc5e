"""What every kind of source gives: a look at its files, and their bytes. Read-only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from vault.core.types import FileState, FileWarning


class SourceUnavailable(Exception):
    """The place of a vault cannot be read as a whole. `str()` says why and what to do."""


class SourceOffline(Exception):
    """The place cannot be reached just now: nothing changes, and the next scan tries again.

    `str()` says why and what to do when it stays so.
    """


class FileUnreadable(Exception):
    """One file cannot be read now. `str()` is the reason for the reader."""


class FileBusy(FileUnreadable):
    """Somebody is writing the file: a later scan takes it."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What a look at a source found. `warnings` are about files that need a look.

    `unreadable` are files and folders that could not be looked at: what is known below
    them is still there as far as anybody can tell. `settings` are no notes, but read alike.
    `not_read` counts, by suffix, files of kinds that are not read.
    """

    files: tuple[FileState, ...]
    warnings: tuple[FileWarning, ...] = ()
    unreadable: tuple[str, ...] = ()
    settings: tuple[FileState, ...] = ()
    not_read: Mapping[str, int] = field(default_factory=dict)


class Source(Protocol):
    """Files of a vault, wherever they live."""

    def scan(self) -> Scan:
        """Every note, without reading it: `content_hash` is empty.

        Raises SourceUnavailable when the place as a whole cannot be read, and
        SourceOffline when it may be later.
        """
        ...

    def read(self, path: str) -> tuple[bytes, FileState]:
        """The bytes of a file of the last scan and its state as they were read.

        Raises FileUnreadable, and FileBusy when somebody is writing it.
        """
        ...

    def pictures(self) -> tuple[str, ...]:
        """Paths of the pictures, as they are named there. Raises SourceUnavailable."""
        ...

    def read_picture(self, path: str, *, largest: int) -> bytes:
        """The bytes of a picture, at most `largest`. Raises FileUnreadable."""
        ...
