"""A folder on this server, as a source of notes."""

from __future__ import annotations

import errno
import os
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from pathspec import GitIgnoreSpec

from vault.core.file_kinds import (
    PICTURE_SUFFIXES,
    most_frequent_kinds,
    read_suffixes,
    suffixes_to_read,
)
from vault.core.moments import moment_of
from vault.core.types import FileState
from vault.models import Vault
from vault.sources.ignoring import ignore_rules
from vault.sources.naming import named_paths
from vault.sources.types import FileBusy, FileUnreadable, Scan, SourceUnavailable
from vault.sources.walking import Walk, open_inside, own_ignores, reason_of_file, settings_files

# Whether a file is too large is told from its size when the folder was looked at.
MOST_GROWTH = 1_000_000


def open_source(vault: Vault) -> FolderSource:
    """The folder of `vault`."""
    return FolderSource(
        Path(vault.place),
        templates_folder=vault.templates_folder,
        ignored=vault.ignored,
        code_suffixes=read_suffixes(vault.code_suffixes),
    )


def trouble_with(vault: Vault) -> str:
    """Why nothing can be read there now, without reading it; empty when it looks well."""
    return "" if Path(vault.place).is_dir() else f"{vault.place} is not there."


@dataclass(slots=True)
class FolderSource:
    """A folder on this server. Nothing outside of it is read, whatever links say."""

    place: Path
    templates_folder: str = ""
    ignored: str = ""
    code_suffixes: tuple[str, ...] = ()
    _raw_paths: dict[str, str] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)

    def scan(self) -> Scan:
        root = self._open_root()
        try:
            walk = Walk(self._ignore_rules(root), suffixes_to_read(self.code_suffixes))
            walk.folder(root, "", 0)
            settings = settings_files(root)
        except OSError as error:
            raise SourceUnavailable(_reason_of_root(self.place, error)) from error
        finally:
            os.close(root)
        return self._named(walk, settings)

    def read(self, path: str) -> tuple[bytes, FileState]:
        raw = self._raw_paths.get(path)
        if raw is None:
            raise FileUnreadable("The file is not in the folder any more.")
        try:
            return self._read_raw(path, raw)
        except OSError as error:
            raise FileUnreadable(reason_of_file(error)) from error

    def pictures(self) -> tuple[str, ...]:
        root = self._open_root()
        try:
            walk = Walk(self._ignore_rules(root), PICTURE_SUFFIXES)
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
            with os.fdopen(open_inside(root, path), "rb") as file:
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
        own = own_ignores(root)
        return ignore_rules(own, templates_folder=self.templates_folder, ignored=self.ignored)

    def _named(self, walk: Walk, settings: dict[str, os.stat_result]) -> Scan:
        paths, warnings = named_paths(walk.files)
        own, _warnings = named_paths(settings)
        self._raw_paths = {**own, **paths}
        found = {**settings, **walk.files}
        self._sizes = {path: found[raw].st_size for path, raw in self._raw_paths.items()}
        return Scan(
            tuple(_state(path, walk.files[raw]) for path, raw in paths.items()),
            (*walk.warnings, *warnings),
            tuple(walk.unreadable),
            tuple(_state(path, settings[raw]) for path, raw in own.items()),
            most_frequent_kinds(walk.not_read),
        )

    def _read_raw(self, path: str, raw: str) -> tuple[bytes, FileState]:
        root = self._open_root()
        try:
            with os.fdopen(open_inside(root, raw), "rb") as file:
                before = os.fstat(file.fileno())
                if not stat.S_ISREG(before.st_mode):
                    raise FileUnreadable("It is not a regular file any more.")
                if before.st_size > self._sizes[path] + MOST_GROWTH:
                    raise FileBusy("It grew much since the vault was looked at.")
                data = file.read(before.st_size + 1)
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


def _state(path: str, found: os.stat_result) -> FileState:
    return FileState(path=path, size=found.st_size, modified=moment_of(found.st_mtime_ns // 1000))


def _reason_of_root(place: Path, error: OSError | ValueError) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if number in (errno.ENOENT, errno.ENOTDIR):
        return f"The folder {place} is not there. Is its disk mounted?"
    if number in (errno.EACCES, errno.EPERM):
        return f"The folder {place} may not be read by the user who runs SecondBrain."
    return f"The folder {place} cannot be read: {error}."
