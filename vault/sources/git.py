"""A branch of a git repository, as a source of notes."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import structlog
from django.conf import settings
from pathspec import GitIgnoreSpec

from vault.core.file_kinds import (
    PICTURE_SUFFIXES,
    is_settings_file,
    most_frequent_kinds,
    read_suffixes,
    suffixes_to_read,
    unread_kind,
)
from vault.core.git_addresses import read_git_address
from vault.core.moments import moment_of
from vault.core.types import FileState, FileWarning
from vault.git import fetching
from vault.git.clone import Remote
from vault.git.listing import ContentLost, Entry, Listing, load_listing, read_content
from vault.git.trouble import GitOffline, GitUnavailable
from vault.models import Vault
from vault.sources.ignoring import IGNORE_FILE, ignore_rules
from vault.sources.naming import escaped, named_paths, printable
from vault.sources.types import FileUnreadable, Scan, SourceOffline, SourceUnavailable

log = structlog.get_logger(__name__)

_SYMBOLIC_LINK = 0o120000
_SUBMODULE = 0o160000
# Seconds of a job's time that a fetch leaves to the rest of a sync.
_FOR_THE_REST = 60.0


def open_source(vault: Vault) -> GitSource:
    """The branch that `vault` follows."""
    try:
        address = read_git_address(vault.place)
    except ValueError as error:
        raise SourceOffline(str(error)) from error
    allowed = tuple(settings.ALLOWED_PRIVATE_ENDPOINTS)
    return GitSource(
        Remote(address, vault.git_branch, _token(vault), allowed),
        clone_place(vault.pk),
        templates_folder=vault.templates_folder,
        ignored=vault.ignored,
        code_suffixes=read_suffixes(vault.code_suffixes),
        take_rewritten=vault.loss_allowed,
    )


def trouble_with(vault: Vault) -> str:
    """Why the repository cannot be read, as far as shows here; empty when it looks well."""
    if vault.token_variable and not _token(vault):
        return f"The environment variable {vault.token_variable} is not set."
    try:
        read_git_address(vault.place)
    except ValueError as error:
        return str(error)
    return ""


def clone_place(vault_id: int) -> Path:
    """The folder of a vault's clone."""
    return Path(settings.DATA_DIR) / "git" / str(vault_id)


def _sweep() -> None:
    """Remove the clones of vaults that are gone."""
    place = Path(settings.DATA_DIR) / "git"
    clones = [path for path in place.glob("*") if path.name.isdecimal()]
    followed = Vault.objects.filter(source_kind=Vault.SourceKind.GIT)
    wanted = set(followed.values_list("pk", flat=True))
    for clone in clones:
        if int(clone.name) not in wanted:
            log.info("clone_removed", folder=clone.name)
            shutil.rmtree(clone, ignore_errors=True)


def _token(vault: Vault) -> str:
    return os.environ.get(vault.token_variable, "").strip() if vault.token_variable else ""


@dataclass(slots=True)
class GitSource:
    """One branch. A scan fetches; reading looks into what was fetched."""

    remote: Remote
    place: Path
    templates_folder: str = ""
    ignored: str = ""
    code_suffixes: tuple[str, ...] = ()
    take_rewritten: bool = False
    _entries: dict[str, Entry] = field(default_factory=dict)

    def scan(self) -> Scan:
        _sweep()
        listing = self._updated()
        suffixes = suffixes_to_read(self.code_suffixes)
        rules = self._ignore_rules(listing)
        entries = {raw: e for raw, e in listing.files.items() if not _is_ignored(rules, raw)}
        wanted = [raw for raw, e in entries.items() if e.is_file and raw.lower().endswith(suffixes)]
        left_out = [raw for raw in {*entries} - {*wanted} if entries[raw].is_file]
        paths, warnings = named_paths(wanted)
        notes = {path: entries[raw] for path, raw in paths.items()}
        own = {raw: e for raw, e in listing.files.items() if e.is_file and is_settings_file(raw)}
        self._entries = {**own, **notes}
        return Scan(
            tuple(_state(path, entry) for path, entry in notes.items()),
            (*_skipped(entries), *warnings),
            settings=tuple(_state(path, entry) for path, entry in own.items()),
            not_read=most_frequent_kinds(Counter(map(unread_kind, left_out))),
        )

    def _updated(self) -> Listing:
        seconds = max(_FOR_THE_REST, settings.JOB_TIMEOUT - _FOR_THE_REST)
        bounds = replace(fetching.BOUNDS, seconds=seconds)
        try:
            return fetching.update(
                self.place, self.remote, bounds, take_rewritten=self.take_rewritten
            )
        except GitOffline as error:
            raise SourceOffline(str(error)) from error
        except GitUnavailable as error:
            raise SourceUnavailable(str(error)) from error

    def read(self, path: str) -> tuple[bytes, FileState]:
        entry = self._entries.get(path)
        if entry is None:
            raise FileUnreadable("The file is not in the branch any more.")
        return self._bytes(entry), _state(path, entry)

    def pictures(self) -> tuple[str, ...]:
        listing = load_listing(self.place)
        rules = self._ignore_rules(listing)
        return tuple(
            sorted(
                raw
                for raw, entry in listing.files.items()
                if entry.is_file
                and raw.lower().endswith(PICTURE_SUFFIXES)
                and not _is_ignored(rules, raw)
            )
        )

    def read_picture(self, path: str, *, largest: int) -> bytes:
        listing = load_listing(self.place)
        entry = listing.files.get(path)
        if entry is None or not entry.is_file or not path.lower().endswith(PICTURE_SUFFIXES):
            raise FileUnreadable("It is not a picture of the branch.")
        if _is_ignored(self._ignore_rules(listing), path):
            raise FileUnreadable("The vault ignores it.")
        if entry.size > largest:
            raise FileUnreadable("It is too large.")
        return self._bytes(entry)

    def _bytes(self, entry: Entry) -> bytes:
        try:
            return read_content(self.place, entry)
        except ContentLost as error:
            raise FileUnreadable(
                "The clone has lost it. Remove the clone's folder under DATA_DIR/git: the next "
                "scan fetches everything anew."
            ) from error

    def _ignore_rules(self, listing: Listing) -> GitIgnoreSpec:
        entry = listing.files.get(IGNORE_FILE)
        own = self._bytes(entry) if entry is not None and entry.is_file else b""
        return ignore_rules(own, templates_folder=self.templates_folder, ignored=self.ignored)


def _is_ignored(rules: GitIgnoreSpec, raw: str) -> bool:
    return bool(rules.match_file(escaped(raw)))


def _skipped(entries: dict[str, Entry]) -> list[FileWarning]:
    """What is no file of the branch: said once, so that nobody looks for it in vain."""
    reasons = {
        _SYMBOLIC_LINK: "It is a symbolic link: links are not followed.",
        _SUBMODULE: "It is a submodule: add its repository as a vault of its own.",
    }
    return [
        FileWarning(printable(raw), reasons[entry.mode])
        for raw, entry in sorted(entries.items())
        if entry.mode in reasons
    ]


def _state(path: str, entry: Entry) -> FileState:
    """As of a file. git keeps no times: it is that of the commit, with a fraction of a
    second from the content, so that two contents of one size never look alike."""
    fraction = int(entry.blob[:8], 16) % 1_000_000
    return FileState(
        path=path, size=entry.size, modified=moment_of(entry.seen * 1_000_000 + fraction)
    )
