"""The files of a branch as of the last accepted commit, beside their contents.

Contents lie there unpacked from git, each under its hash and of a known size, so that who
reads them is safe from whatever the repository holds.
"""

from __future__ import annotations

import json
import stat
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

LIST_FILE = "secondbrain-listing.json"
CONTENTS = "contents"


class ContentLost(Exception):
    """The clone does not hold what its list names."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A path of the tree. `seen` is the time of the commit that brought this content."""

    mode: int
    blob: str
    size: int
    seen: int

    @property
    def is_file(self) -> bool:
        return stat.S_ISREG(self.mode)


@dataclass(slots=True)
class Listing:
    """The files of a branch at one commit, by raw path (surrogates for odd bytes)."""

    address: str = ""
    branch: str = ""
    commit: str = ""
    tree: str = ""
    files: dict[str, Entry] = field(default_factory=dict)


def load_listing(place: Path) -> Listing:
    """The files as of the last update; empty before the first."""
    try:
        stored: dict[str, Any] = json.loads((place / LIST_FILE).read_text())
        files = {path: Entry(*row) for path, row in stored.pop("files").items()}
        return Listing(**stored, files=files)
    except (OSError, ValueError, TypeError, KeyError):
        return Listing()


def save_listing(place: Path, listing: Listing) -> None:
    """Remember a list, all of it or nothing."""
    rows = {path: (e.mode, e.blob, e.size, e.seen) for path, e in listing.files.items()}
    _write(place / LIST_FILE, json.dumps({**asdict(listing), "files": rows}).encode())


def save_content(place: Path, blob: str, data: bytes) -> None:
    """Keep the bytes of a file under its hash."""
    path = _content_path(place, blob)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, zlib.compress(data, 1))


def read_content(place: Path, entry: Entry) -> bytes:
    """The bytes of a file, never more than its size. Raises ContentLost."""
    try:
        packed = _content_path(place, entry.blob).read_bytes()
        data = zlib.decompressobj().decompress(packed, entry.size + 1)
    except (OSError, zlib.error) as error:
        raise ContentLost(entry.blob) from error
    if len(data) != entry.size:
        raise ContentLost(entry.blob)
    return data


def drop_contents(place: Path, *, but: set[str]) -> None:
    """Remove contents that no file of the branch has any more."""
    for path in (place / CONTENTS).glob("*/*"):
        if path.name not in but:
            path.unlink()


def _content_path(place: Path, blob: str) -> Path:
    return place / CONTENTS / blob[:2] / blob


def _write(path: Path, data: bytes) -> None:
    temporary = path.with_name(f"{path.name}.new")
    temporary.write_bytes(data)
    temporary.replace(path)
