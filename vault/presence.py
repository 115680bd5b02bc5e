"""Whether a file stands in a vault's folder now, and whether it would be read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vault.core.names import normalise_path
from vault.core.types import FileState
from vault.models import Vault
from vault.sources.ignoring import IGNORE_FILE, LARGEST_IGNORE_FILE, ignore_rules
from vault.sources.registry import source_of
from vault.sources.types import SourceOffline, SourceUnavailable


@dataclass(frozen=True, slots=True)
class Presence:
    """`state`: "read" (it would be, and `file` is its present state), "ignored" (`rule`
    leaves it out), "other" (there, but of no kind that is read), "gone", or "unknown": the
    place cannot be looked at without fetching it."""

    state: str
    file: FileState | None = None
    rule: str = ""


def presence_of(vault: Vault, path: str) -> Presence:
    """Look for the file at `path`, which whoever asks may read. Reads no note."""
    if vault.source_kind != Vault.SourceKind.FOLDER:
        return Presence("unknown")
    try:
        wanted = normalise_path(path)
        scan = source_of(vault).scan()
    except (ValueError, SourceUnavailable, SourceOffline):
        return Presence("unknown")
    found = next((file for file in scan.files if file.path == wanted), None)
    if found is not None:
        return Presence("read", file=found)
    rule = _rule_for(vault, wanted)
    if not _is_there(vault, wanted):
        return Presence("gone")
    return Presence("ignored", rule=rule) if rule else Presence("other")


def _rule_for(vault: Vault, path: str) -> str:
    """The pattern that leaves `path` out; empty when none does."""
    rules = ignore_rules(
        _own_rules(vault), templates_folder=vault.templates_folder, ignored=vault.ignored
    )
    matched = rules.check_file(path)
    if not matched.include or matched.index is None:
        return ""
    return str(list(rules.patterns)[matched.index].pattern)


def _own_rules(vault: Vault) -> bytes:
    try:
        with (Path(vault.place) / IGNORE_FILE).open("rb") as file:
            return file.read(LARGEST_IGNORE_FILE)
    except OSError:
        return b""


def _is_there(vault: Vault, path: str) -> bool:
    try:
        return (Path(vault.place) / path).is_file()
    except (OSError, ValueError):
        return False
