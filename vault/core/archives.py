"""Which files of an uploaded archive become a vault, and what makes it dangerous."""

from __future__ import annotations

import lzma
import stat
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from vault.core.file_kinds import is_settings_file, most_frequent_kinds, unread_kind

# What zipfile raises of an archive that is broken, encrypted, or packed in a way it does not
# know; of broken bz2 data it raises a bare OSError besides.
UNREADABLE_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    RuntimeError,
    ValueError,
    OverflowError,
)
_MOST_NAMED = 3
_LONGEST_PATH = 500
_DEEPEST = 60
_RUBBISH = frozenset({"__MACOSX", ".git", ".trash", "node_modules", "__pycache__"})
# Deflate squeezes text ten times, a table of equal rows some hundred times.
_LARGEST_RATIO = 200
_TOO_SMALL_TO_HARM = 1_000_000


class ArchiveRefused(Exception):
    """The archive is not unpacked. `str()` says what is wrong, where, and what to do."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A member of an archive as its table of contents tells of it. Sizes in bytes."""

    name: str
    size: int
    packed: int
    mode: int = 0
    is_encrypted: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that is unpacked: files, and bytes of all of them."""

    files: int
    size: int


@dataclass(frozen=True, slots=True)
class ArchivePlan:
    """(name in the archive, path in the vault) of what to unpack; how many are left out, and
    those among them that may hold text, by kind as `unread_kind` has it."""

    files: tuple[tuple[str, str], ...]
    left_out: int
    not_read: Mapping[str, int]


def plan_archive(
    entries: Sequence[Entry], *, suffixes: tuple[str, ...], limits: Limits
) -> ArchivePlan:
    """What to unpack: files with these suffixes, without a folder around all of them.

    Raises ArchiveRefused for paths that lead out, links, encryption, two files of one
    name, and whatever would unpack to too much.
    """
    files = [entry for entry in entries if not entry.name.endswith(("/", "\\"))]
    paths = {id(entry): path for entry in files if (path := _path(entry.name)) is not None}
    _refuse("leads out of the vault", (e.name for e in files if id(e) not in paths))
    kept = [entry for entry in files if not _RUBBISH.intersection(paths[id(entry)].split("/"))]
    _refuse("is a link or a device: pack the files themselves", _links(kept))
    _refuse("is encrypted: pack it without a password", (e.name for e in kept if e.is_encrypted))
    wanted = [e for e in kept if _is_wanted(paths[id(e)], suffixes)]
    others = [e for e in kept if not _is_wanted(paths[id(e)], suffixes)]
    if not wanted:
        raise ArchiveRefused("There is no note in the archive: no file ends in .md.")
    _refuse_too_much(wanted, limits)
    shared = _shared_folder([paths[id(entry)] for entry in kept])
    placed = [(entry.name, paths[id(entry)].removeprefix(shared)) for entry in wanted]
    _refuse("has a path that is too long or too deep", (n for n, p in placed if _is_long(p)))
    counts = Counter(path for _name, path in placed)
    _refuse("is there twice", (n for n, p in placed if counts[p] > 1))
    _refuse("is a file and a folder", (f for _n, p in placed for f in _folders(p) if f in counts))
    unread = Counter(unread_kind(paths[id(entry)]) for entry in others)
    return ArchivePlan(tuple(placed), len(files) - len(wanted), most_frequent_kinds(unread))


def _path(name: str) -> str | None:
    """The path of an entry inside the vault, NFC; None when it leads out of it."""
    unified = unicodedata.normalize("NFC", name.replace("\\", "/"))
    parts = unified.split("/")
    is_absolute = unified.startswith("/") or parts[0].endswith(":")
    if is_absolute or ".." in parts or "\0" in unified:
        return None
    return "/".join(part for part in parts if part not in {"", "."}) or None


def _links(entries: Sequence[Entry]) -> Iterator[str]:
    for entry in entries:
        kind = stat.S_IFMT(entry.mode)
        if kind and not stat.S_ISREG(entry.mode) and not stat.S_ISDIR(entry.mode):
            yield entry.name


def _is_wanted(path: str, suffixes: tuple[str, ...]) -> bool:
    name = path.rpartition("/")[2]
    is_note = name.lower().endswith(suffixes) and not name.startswith("._")
    is_ignore = name == ".brainignore"
    # Within the folder around everything, if there is one.
    return is_note or is_ignore or any(is_settings_file(it) for it in (path, _inside(path)))


def _inside(path: str) -> str:
    return path.partition("/")[2]


def _refuse_too_much(entries: Sequence[Entry], limits: Limits) -> None:
    if len(entries) > limits.files:
        raise ArchiveRefused(
            f"The archive holds {len(entries):,} files; {limits.files:,} are the most. "
            "Upload it in parts, or let an administrator add the folder on the server."
        )
    total = sum(entry.size for entry in entries)
    if total > limits.size:
        raise ArchiveRefused(
            f"Unpacked the archive has {total // 1_000_000:,} MB; "
            f"{limits.size // 1_000_000:,} MB are the most. Leave large files out."
        )
    _refuse(
        "unpacks to far more than its packed size: it looks like a bomb",
        (
            entry.name
            for entry in entries
            if entry.size > _TOO_SMALL_TO_HARM and entry.size > entry.packed * _LARGEST_RATIO
        ),
    )


def _shared_folder(paths: Sequence[str]) -> str:
    """`Notes/` when everything lies in that one folder, else nothing."""
    tops = {path.partition("/")[0] for path in paths}
    is_one = len(tops) == 1 and all("/" in path for path in paths)
    return f"{tops.pop()}/" if is_one else ""


def _is_long(path: str) -> bool:
    parts = path.split("/")
    longest = max(len(part.encode("utf-8", "surrogatepass")) for part in parts)
    return len(path) > _LONGEST_PATH or len(parts) > _DEEPEST or longest > 255


def _folders(path: str) -> Iterator[str]:
    parts = path.split("/")[:-1]
    for count in range(1, len(parts) + 1):
        yield "/".join(parts[:count])


def _refuse(reason: str, names: Iterator[str]) -> None:
    """Refuse the archive when there is any name, and say which."""
    found = list(names)
    if not found:
        return
    shown = ", ".join(f"“{name[:120]}”" for name in found[:_MOST_NAMED])
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    raise ArchiveRefused(f"In the archive {shown}{more} {reason}. Nothing was unpacked.")
