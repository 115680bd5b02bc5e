"""Notices changes in vault folders within a second or two.

Only a hint: scans find what it misses. Runs in a thread of its own and touches no
database.
"""

from __future__ import annotations

import threading
from pathlib import Path

import structlog
from watchfiles import Change, DefaultFilter, watch

from vault.core.file_kinds import LANGUAGES, suffixes_to_read

log = structlog.get_logger(__name__)

# Milliseconds of quiet before a change is told: an editor's save is several events.
QUIET = 1500


_WATCHED = {"", ".brainignore", *suffixes_to_read(()), *LANGUAGES}


class _Notes(DefaultFilter):
    """Notes and folders; not what applications keep for themselves."""

    ignore_dirs = (*DefaultFilter.ignore_dirs, ".obsidian", ".trash", ".stversions")

    def __call__(self, change: Change, path: str) -> bool:
        suffix = Path(path).suffix.lower()
        return super().__call__(change, path) and suffix in _WATCHED


class FolderWatch:
    """Watches the folders it is told to follow; `changed` says in which vaults."""

    def __init__(self) -> None:
        self._places: dict[int, str] = {}
        self._changed: set[int] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def follow(self, places: dict[int, str]) -> None:
        """Watch these folders (by vault id) from now on, and no others."""
        there = {vault_id: place for vault_id, place in places.items() if Path(place).is_dir()}
        if there == self._places and (self._thread is None or self._thread.is_alive()):
            return
        self.close()
        self._places, self._stop = there, threading.Event()
        if there:
            self._thread = threading.Thread(
                target=self._watch, args=(there, self._stop), name="folder watch", daemon=True
            )
            self._thread.start()

    def changed(self) -> set[int]:
        """Vaults in which something changed since the last call."""
        with self._lock:
            changed, self._changed = self._changed, set()
        return changed

    def close(self) -> None:
        """Stop watching."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5)
        self._thread = None

    def _watch(self, places: dict[int, str], stop: threading.Event) -> None:
        try:
            changes = watch(
                *places.values(),
                watch_filter=_Notes(),
                debounce=QUIET,
                step=200,
                stop_event=stop,
                raise_interrupt=False,
                ignore_permission_denied=True,
            )
            for batch in changes:
                self._note({path for _change, path in batch}, places)
        except (OSError, RuntimeError) as error:
            # No inotify watches left, or a folder that went away: scans still find it.
            log.warning("folder_watch_stopped", error=str(error))

    def _note(self, paths: set[str], places: dict[int, str]) -> None:
        hit = {
            vault_id
            for vault_id, place in places.items()
            if any(Path(path).is_relative_to(place) for path in paths)
        }
        with self._lock:
            self._changed |= hit
