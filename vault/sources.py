"""Where notes come from. Read-only: nothing here opens a file for writing."""

from __future__ import annotations

import errno
import os
import stat
import time
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from django.conf import settings
from pathspec import GitIgnoreSpec

from vault.core.file_kinds import (
    DRAWING_SUFFIXES,
    NOTE_SUFFIXES,
    PERSONAS_FOLDER,
    SETTINGS_FILE,
    is_settings_file,
    read_suffixes,
)
from vault.core.types import FileState, FileWarning
from vault.models import Vault

IGNORE_FILE = ".brainignore"
PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif")

# Application folders, and what editors and synchronisers leave behind for a moment.
DEFAULT_IGNORES = (
    ".obsidian/",
    ".trash/",
    ".git/",
    ".claude/",
    f"/{SETTINGS_FILE}",
    "node_modules/",
    "__pycache__/",
    ".venv/",
    "*.min.js",
    ".stfolder/",
    ".stversions/",
    "*.sync-conflict-*",
    ".syncthing.*",
    "~syncthing~*",
    "~$*",
    "*~",
    "*.tmp",
    "*.swp",
    ".#*",
    ".DS_Store",
)

# An ignore file is a page of patterns; more than this is something else.
LARGEST_IGNORE_FILE = 256 * 1024
DEEPEST_FOLDER = 100

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: a FIFO put in the place of a note must not hang the scan.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class SourceUnavailable(Exception):
    """The place of a vault cannot be read as a whole. `str()` says why and what to do."""


class FileUnreadable(Exception):
    """One file cannot be read now. `str()` is the reason for the reader."""


class FileBusy(FileUnreadable):
    """Somebody is writing the file: a later scan takes it."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What a look at a source found. `warnings` are about files that need a look.

    `unreadable` are files and folders that could not be looked at: what is known below
    them is still there as far as anybody can tell. `settings` are no notes, but read alike.
    """

    files: tuple[FileState, ...]
    warnings: tuple[FileWarning, ...] = ()
    unreadable: tuple[str, ...] = ()
    settings: tuple[FileState, ...] = ()


class Source(Protocol):
    """Files of a vault, wherever they live."""

    def scan(self) -> Scan:
        """Every note, without reading it: `content_hash` is empty.

        Raises SourceUnavailable when the place as a whole cannot be read.
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


def source_of(vault: Vault) -> Source:
    """The source that `vault` is configured with."""
    return FolderSource(
        Path(vault.place),
        templates_folder=vault.templates_folder,
        code_suffixes=read_suffixes(vault.code_suffixes),
    )


@dataclass(slots=True)
class FolderSource:
    """A folder on this server. Nothing outside of it is read, whatever links say."""

    place: Path
    templates_folder: str = ""
    code_suffixes: tuple[str, ...] = ()
    _raw_paths: dict[str, str] = field(default_factory=dict)

    def scan(self) -> Scan:
        self._raw_paths = {}
        root = self._open_root()
        try:
            suffixes = NOTE_SUFFIXES + DRAWING_SUFFIXES + self.code_suffixes
            walk = _Walk(self._ignore_rules(root), suffixes)
            walk.folder(root, "", 0)
            settings_files = _settings_files(root)
        except OSError as error:
            raise SourceUnavailable(_reason_of_root(self.place, error)) from error
        finally:
            os.close(root)
        self._raw_paths = {state.path: raw for raw, state in settings_files.items()}
        return replace(self._named(walk), settings=tuple(settings_files.values()))

    def read(self, path: str) -> tuple[bytes, FileState]:
        raw = self._raw_paths.get(path)
        if raw is None:
            raise FileUnreadable("The file is not in the folder any more.")
        try:
            return self._read_raw(path, raw)
        except OSError as error:
            raise FileUnreadable(_reason_of_file(error)) from error

    def pictures(self) -> tuple[str, ...]:
        root = self._open_root()
        try:
            walk = _Walk(self._ignore_rules(root), PICTURE_SUFFIXES)
            walk.folder(root, "", 0)
        except OSError as error:
            raise SourceUnavailable(_reason_of_root(self.place, error)) from error
        finally:
            os.close(root)
        return tuple(sorted(walk.files))

    def read_picture(self, path: str, *, largest: int) -> bytes:
        """Refuses whatever is no picture, ignored, too large or elsewhere."""
        if not path.lower().endswith(PICTURE_SUFFIXES):
            raise FileUnreadable("It is not a picture.")
        root = self._open_root()
        try:
            if self._ignore_rules(root).match_file(path):
                raise FileUnreadable("The vault ignores it.")
            with os.fdopen(_open_inside(root, path), "rb") as file:
                found = os.fstat(file.fileno())
                if not stat.S_ISREG(found.st_mode) or found.st_size > largest:
                    raise FileUnreadable("It is too large, or no regular file.")
                return file.read(largest)
        except (OSError, ValueError) as error:
            raise FileUnreadable("It cannot be read.") from error
        finally:
            os.close(root)

    def _open_root(self) -> int:
        try:
            return os.open(self.place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except (OSError, ValueError) as error:
            raise SourceUnavailable(_reason_of_root(self.place, error)) from error

    def _ignore_rules(self, root: int) -> GitIgnoreSpec:
        lines = [*DEFAULT_IGNORES, *_own_ignores(root)]
        templates = self.templates_folder.strip("/")
        if templates:
            escaped = "".join("\\" + c if c in "*?[]!#\\ " else c for c in templates)
            lines.append(f"/{escaped}/")
        return GitIgnoreSpec.from_lines(lines)

    def _named(self, walk: _Walk) -> Scan:
        """Give each file its NFC path; a twin in another form keeps its raw one."""
        files: list[FileState] = []
        warnings: list[FileWarning] = []
        for raw in sorted(walk.files, key=lambda raw: (_printable(raw) != raw, raw)):
            path = _printable(raw)
            if path in self._raw_paths:
                path = _escaped(raw)
                warnings.append(
                    FileWarning(path, "Another file has the same name in other Unicode form.")
                )
            elif path != unicodedata.normalize("NFC", raw):
                warnings.append(FileWarning(path, "The file name is not valid UTF-8."))
            self._raw_paths[path] = raw
            files.append(_state(path, walk.files[raw]))
        return Scan(tuple(files), (*walk.warnings, *warnings), tuple(walk.unreadable))

    def _read_raw(self, path: str, raw: str) -> tuple[bytes, FileState]:
        root = self._open_root()
        try:
            with os.fdopen(_open_inside(root, raw), "rb") as file:
                before = os.fstat(file.fileno())
                if not stat.S_ISREG(before.st_mode):
                    raise FileUnreadable("It is not a regular file any more.")
                data = file.read()
                after = os.fstat(file.fileno())
        finally:
            os.close(root)
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise FileBusy("It changed while it was read.")
        if 0 <= time.time() - before.st_mtime < settings.QUIET_SECONDS:
            # In-place writers are caught by waiting only: of files read between two equal
            # stats 12 % were torn, of files left alone for 50 ms a thousandth.
            raise FileBusy("It was written a moment ago.")
        return data, _state(path, before)


class _Walk:
    """One descent through a folder by file descriptors, never through links."""

    def __init__(self, ignored: GitIgnoreSpec, suffixes: tuple[str, ...]) -> None:
        self.ignored = ignored
        self.suffixes = suffixes
        self.files: dict[str, os.stat_result] = {}
        self.warnings: list[FileWarning] = []
        self.unreadable: list[str] = []

    def folder(self, descriptor: int, prefix: str, depth: int) -> None:
        """Collect what lies in the open folder, and below."""
        for name in sorted(os.listdir(descriptor)):
            raw = prefix + name
            try:
                found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                self._entry(descriptor, raw, found, depth)
            except FileNotFoundError:
                continue  # gone since it was listed
            except OSError as error:
                self.unreadable.append(_printable(raw))
                self._skip(raw, _reason_of_file(error))

    def _entry(self, parent: int, raw: str, found: os.stat_result, depth: int) -> None:
        is_folder = stat.S_ISDIR(found.st_mode)
        if self.ignored.match_file(_escaped(raw) + ("/" if is_folder else "")):
            return
        if is_folder:
            self._subfolder(parent, raw, depth)
        elif not raw.lower().endswith(self.suffixes):
            if stat.S_ISLNK(found.st_mode):
                self._skip(raw, "It is a symbolic link: links are not followed.")
        elif stat.S_ISREG(found.st_mode):
            self.files[raw] = found
        else:
            self._skip(raw, _reason_of_mode(found.st_mode))

    def _subfolder(self, parent: int, raw: str, depth: int) -> None:
        if depth >= DEEPEST_FOLDER:
            self._skip(raw, f"Folders deeper than {DEEPEST_FOLDER} levels are not read.")
            return
        descriptor = os.open(raw.rpartition("/")[2], _FOLDER_FLAGS, dir_fd=parent)
        try:
            self.folder(descriptor, raw + "/", depth + 1)
        finally:
            os.close(descriptor)

    def _skip(self, raw: str, reason: str) -> None:
        self.warnings.append(FileWarning(_printable(raw), reason))


def _open_inside(root: int, raw: str) -> int:
    """Open a file below the folder `root`, refusing links at every step."""
    *folders, name = raw.split("/")
    if "" in (*folders, name) or ".." in (*folders, name):
        raise FileUnreadable("Its path leads out of the vault.")
    parent = _open_folder(root, folders)
    try:
        return os.open(name, _FILE_FLAGS, dir_fd=parent)
    finally:
        os.close(parent)


def _open_folder(root: int, folders: Sequence[str]) -> int:
    """Open a folder below the folder `root`, refusing links at every step."""
    parent = os.dup(root)
    for folder in folders:
        try:
            child = os.open(folder, _FOLDER_FLAGS, dir_fd=parent)
        finally:
            os.close(parent)
        parent = child
    return parent


def _own_ignores(root: int) -> Iterator[str]:
    """Lines of the vault's own ignore file; none when there is no readable one."""
    try:
        with os.fdopen(os.open(IGNORE_FILE, _FILE_FLAGS, dir_fd=root), "rb") as file:
            if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                text = file.read(LARGEST_IGNORE_FILE).decode("utf-8", "replace")
                yield from text.lstrip("\ufeff").splitlines()
    except OSError:
        return


def _settings_files(root: int) -> dict[str, FileState]:
    """The vault's own settings files, plain ones, by their raw names."""
    found: dict[str, FileState] = {}
    for raw in (SETTINGS_FILE, *_persona_files(root)):
        try:
            with os.fdopen(_open_inside(root, raw), "rb") as file:
                state = os.fstat(file.fileno())
        except OSError:
            continue
        if is_settings_file(raw) and stat.S_ISREG(state.st_mode):
            found[raw] = _state(_printable(raw), state)
    return found


def _persona_files(root: int) -> list[str]:
    try:
        folder = _open_folder(root, PERSONAS_FOLDER.split("/"))
    except OSError:
        return []
    try:
        with os.scandir(folder) as entries:
            return sorted(f"{PERSONAS_FOLDER}/{entry.name}" for entry in entries)
    finally:
        os.close(folder)


def _state(path: str, found: os.stat_result) -> FileState:
    return FileState(path=path, size=found.st_size, modified=_moment(found.st_mtime_ns))


def _moment(nanoseconds: int) -> datetime:
    """A file time as the tables can hold it: microseconds, years 1 to 9999."""
    try:
        return datetime.fromtimestamp(nanoseconds // 1000 / 1_000_000, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(0, tz=UTC)


def _printable(raw: str) -> str:
    """NFC, with bytes that are no UTF-8 written as \\xff."""
    return unicodedata.normalize("NFC", _escaped(raw))


def _escaped(raw: str) -> str:
    return os.fsencode(raw).decode("utf-8", "backslashreplace")


def _reason_of_mode(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "It is a symbolic link: links are not followed."
    if stat.S_ISFIFO(mode):
        return "It is a pipe, not a file."
    return "It is a device or a socket, not a file."


def _reason_of_file(error: OSError) -> str:
    reasons = {
        errno.ENOENT: "It vanished while the vault was read.",
        errno.EACCES: "Permission denied: let the user who runs SecondBrain read it.",
        errno.EPERM: "Permission denied: let the user who runs SecondBrain read it.",
        errno.ELOOP: "It is a symbolic link: links are not followed.",
        errno.ENOTDIR: "A part of its path is no folder any more.",
    }
    return reasons.get(error.errno or 0, f"It cannot be read: {error.strerror or error}.")


def _reason_of_root(place: Path, error: OSError | ValueError) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number in (errno.ENOENT, errno.ENOTDIR):
        return f"The folder {place} is not there. Is its disk mounted?"
    if number in (errno.EACCES, errno.EPERM):
        return f"The folder {place} may not be read by the user who runs SecondBrain."
    return f"The folder {place} cannot be read: {error}."
