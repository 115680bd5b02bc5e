"""A descent through a folder by file descriptors: never through links, never out of it."""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter
from collections.abc import Sequence

from pathspec import GitIgnoreSpec

from vault.core.file_kinds import PERSONAS_FOLDER, SETTINGS_FILE, is_settings_file, unread_kind
from vault.core.types import FileWarning
from vault.sources.ignoring import IGNORE_FILE, LARGEST_IGNORE_FILE
from vault.sources.naming import escaped, printable
from vault.sources.types import FileUnreadable

DEEPEST_FOLDER = 100

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: a FIFO put in the place of a note must not hang the scan.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Walk:
    """One descent through a folder by file descriptors, never through links."""

    def __init__(self, ignored: GitIgnoreSpec, suffixes: tuple[str, ...]) -> None:
        self.ignored = ignored
        self.suffixes = suffixes
        self.files: dict[str, os.stat_result] = {}
        self.warnings: list[FileWarning] = []
        self.unreadable: list[str] = []
        self.not_read: Counter[str] = Counter()

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
                self.unreadable.append(printable(raw))
                self._skip(raw, reason_of_file(error))

    def _entry(self, parent: int, raw: str, found: os.stat_result, depth: int) -> None:
        is_folder = stat.S_ISDIR(found.st_mode)
        if self.ignored.match_file(escaped(raw) + ("/" if is_folder else "")):
            return
        if is_folder:
            self._subfolder(parent, raw, depth)
        elif not raw.lower().endswith(self.suffixes):
            if stat.S_ISLNK(found.st_mode):
                self._skip(raw, "It is a symbolic link: links are not followed.")
            elif stat.S_ISREG(found.st_mode):
                self.not_read[unread_kind(raw)] += 1
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
        self.warnings.append(FileWarning(printable(raw), reason))


def open_inside(root: int, raw: str) -> int:
    """Open a file below the folder `root`, refusing links at every step."""
    *folders, name = raw.split("/")
    # `.` leads nowhere else, but rights and ignore rules compare paths as they are written.
    if {"", ".", ".."}.intersection((*folders, name)):
        raise FileUnreadable("Its path leads out of the vault, or is written in another way.")
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


def own_ignores(root: int) -> bytes:
    """The vault's own ignore file; empty when there is no readable one."""
    try:
        with os.fdopen(os.open(IGNORE_FILE, _FILE_FLAGS, dir_fd=root), "rb") as file:
            is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            return file.read(LARGEST_IGNORE_FILE) if is_file else b""
    except OSError:
        return b""


def settings_files(root: int) -> dict[str, os.stat_result]:
    """The vault's own settings files, plain ones, by their raw names."""
    found: dict[str, os.stat_result] = {}
    for raw in (SETTINGS_FILE, *_persona_files(root)):
        try:
            with os.fdopen(open_inside(root, raw), "rb") as file:
                state = os.fstat(file.fileno())
        except OSError:
            continue
        if is_settings_file(raw) and stat.S_ISREG(state.st_mode):
            found[raw] = state
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


def _reason_of_mode(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "It is a symbolic link: links are not followed."
    if stat.S_ISFIFO(mode):
        return "It is a pipe, not a file."
    return "It is a device or a socket, not a file."


def reason_of_file(error: OSError) -> str:
    """Why one file could not be looked at, for the reader."""
    reasons = {
        errno.ENOENT: "It vanished while the vault was read.",
        errno.EACCES: "Permission denied: let the user who runs SecondBrain read it.",
        errno.EPERM: "Permission denied: let the user who runs SecondBrain read it.",
        errno.ELOOP: "It is a symbolic link: links are not followed.",
        errno.ENOTDIR: "A part of its path is no folder any more.",
    }
    return reasons.get(error.errno or 0, f"It cannot be read: {error.strerror or error}.")
