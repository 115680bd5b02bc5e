"""A clone of one branch under DATA_DIR: bare, shallow, brought up to date by fetching.

Beside the objects lies a list of the branch's files as of the last accepted commit. A new
commit changes only the rows of the paths that differ between the two trees.
"""

from __future__ import annotations

import json
import os
import stat
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import structlog
from dulwich.client import HTTPUnauthorized, LsRemoteResult
from dulwich.diff_tree import tree_changes
from dulwich.errors import (
    ChecksumMismatch,
    FileFormatException,
    GitProtocolError,
    HangupException,
    MissingCommitError,
    NotGitRepository,
)
from dulwich.objects import Blob, Commit, ObjectID
from dulwich.refs import Ref
from dulwich.repo import Repo

from vault.core.git_addresses import GitAddress
from vault.sources.git_http import AddressRefused, FetchTooLarge, GuardedGitClient, git_client
from vault.sources.types import SourceOffline, SourceUnavailable

log = structlog.get_logger(__name__)

# Commits that a fetch looks back for the one it knows; a thousand when that is not enough.
DEPTHS = (50, 1000)
# Each fetch leaves a pack: then they are made one.
MOST_PACKS = 20
LIST_FILE = "secondbrain-files.json"

_BROKEN = (ChecksumMismatch, FileFormatException, MissingCommitError, KeyError, AssertionError)


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


@dataclass(frozen=True, slots=True)
class Remote:
    """What is followed: a branch of a repository; an empty branch is the default one."""

    address: GitAddress
    branch: str = ""
    token: str = field(default="", repr=False)


class Clone:
    """The clone in the folder `place`. Only one process may update it at a time."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._reader: Repo | None = None

    def update(self, remote: Remote, *, take_rewritten: bool) -> Listing:
        """Fetch the branch and list its files.

        Raises SourceOffline; and SourceUnavailable when the branch is gone, or was
        rewritten and nobody said that the new history is to be taken.
        """
        known = self.listing()
        if known.address != remote.address.url:
            known = Listing(address=remote.address.url)
        with _explained(remote), self._opened() as repo:
            client = git_client(remote.address, token=remote.token)
            found = client.get_refs(b"")
            branch = remote.branch or _default_branch(found)
            head = found.refs.get(Ref(_ref(branch)))
            if head is None:
                raise SourceUnavailable(_no_such_branch(branch, found))
            if (known.branch, known.commit) == (branch, head.decode()):
                return known
            self._fetch(repo, client, branch, head, known)
            if known.commit and known.branch == branch and not take_rewritten:
                _refuse_rewritten(repo, branch, known.commit, head)
            listing = _listed(repo, known, branch, head)
            self._accept(repo, listing)
        return listing

    def listing(self) -> Listing:
        """The files as of the last update; empty before the first."""
        try:
            stored: dict[str, Any] = json.loads((self.place / LIST_FILE).read_text())
            files = {path: Entry(*row) for path, row in stored.pop("files").items()}
            return Listing(**stored, files=files)
        except (OSError, ValueError, TypeError, KeyError):
            return Listing()

    def read(self, blob: str) -> bytes:
        """The bytes of a file. Raises KeyError, or NotGitRepository, when they are not there."""
        if self._reader is None:
            self._reader = Repo(str(self.place))
            # Thousands of blobs are read through it: it is closed with this object.
            weakref.finalize(self, self._reader.close)
        return _blob(self._reader, blob)

    @contextmanager
    def _opened(self) -> Iterator[Repo]:
        if (self.place / "objects").is_dir():
            repo = Repo(str(self.place))
        else:
            self.place.mkdir(parents=True, exist_ok=True, mode=0o700)
            repo = Repo.init_bare(str(self.place))
        try:
            yield repo
        finally:
            repo.close()

    def _fetch(
        self, repo: Repo, client: GuardedGitClient, branch: str, head: ObjectID, known: Listing
    ) -> None:
        """Objects of the branch, back to the commit that is known where it is near."""
        for depth in DEPTHS if known.commit else (1,):
            client.fetch(b"", repo, determine_wants=_Only(head), depth=depth)
            if not known.commit or _descends(repo, head, known.commit):
                return
        log.info("git_history_differs", branch=branch, known=known.commit)

    def _accept(self, repo: Repo, listing: Listing) -> None:
        """Remember the commit: what the next fetch need not send again."""
        repo.refs[Ref(_ref(listing.branch))] = ObjectID(listing.commit.encode())
        if len(list(repo.object_store.packs)) > MOST_PACKS:
            repo.object_store.repack()
        stored = {**asdict(listing), "files": {p: _row(e) for p, e in listing.files.items()}}
        temporary = self.place / f"{LIST_FILE}.new"
        temporary.write_text(json.dumps(stored))
        temporary.replace(self.place / LIST_FILE)


@dataclass(frozen=True, slots=True)
class _Only:
    """Wants one commit, whatever else the server has."""

    head: ObjectID

    def __call__(self, refs: Mapping[Ref, ObjectID], depth: int | None = None) -> list[ObjectID]:
        return [self.head]


@contextmanager
def _explained(remote: Remote) -> Iterator[None]:
    """Say in words what a fetch failed at. The token is in none of them."""
    host = remote.address.host
    try:
        yield
    except AddressRefused as error:
        raise SourceOffline(str(error)) from error
    except HTTPUnauthorized as error:
        raise SourceOffline(
            f"{host} refuses to show the repository without a valid token. Put one into an "
            "environment variable such as GIT_TOKEN_NOTES, name it in the vault's settings, and "
            "restart."
        ) from error
    except NotGitRepository as error:
        raise SourceOffline(
            f"{host} has no repository at {remote.address.url}, or does not show it without a "
            "token. Correct the address, or name the variable of a token."
        ) from error
    except FetchTooLarge as error:
        raise SourceOffline(f"The repository is too large to be read. {error}") from error
    except (GitProtocolError, HangupException, OSError) as error:
        raise SourceOffline(
            f"{remote.address.url} could not be fetched: {_words(error)}"
        ) from error
    except _BROKEN as error:
        raise SourceOffline(
            f"The clone of {remote.address.url} cannot be read ({type(error).__name__}). It is "
            "fetched anew when its folder under DATA_DIR/git is removed."
        ) from error


def _words(error: Exception) -> str:
    text = str(error) or type(error).__name__
    if "http resp 30" in text:
        return "it redirects to another address. Enter the address it leads to."
    return f"{text[:300].rstrip('.')}. The next scan tries again."


def _ref(branch: str) -> bytes:
    return f"refs/heads/{branch}".encode()


def _default_branch(found: LsRemoteResult) -> str:
    target = found.symrefs.get(Ref(b"HEAD"))
    if target:
        return target.decode("utf-8", "replace").removeprefix("refs/heads/")
    names = _branches(found)
    return next((name for name in ("main", "master") if name in names), names[0] if names else "")


def _branches(found: LsRemoteResult) -> list[str]:
    prefix = b"refs/heads/"
    return sorted(
        ref[len(prefix) :].decode("utf-8", "replace")
        for ref in found.refs
        if ref.startswith(prefix)
    )


def _no_such_branch(branch: str, found: LsRemoteResult) -> str:
    names = _branches(found)
    if not names:
        return "The repository has no commits, or none that it shows."
    return f"The repository has no branch “{branch}”. It has: {', '.join(names[:10])}."


def _descends(repo: Repo, head: ObjectID, known: str) -> bool:
    """Whether the known commit is in the history of `head`, as far as it was fetched."""
    if head.decode() == known:
        return True
    waiting, seen = [head], {head}
    while waiting:
        try:
            commit = repo[waiting.pop()]
        except KeyError:
            continue  # beyond the shallow end
        for parent in commit.parents if isinstance(commit, Commit) else ():
            if parent.decode() == known:
                return True
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)
    return False


def _refuse_rewritten(repo: Repo, branch: str, known: str, head: ObjectID) -> None:
    if _descends(repo, head, known):
        return
    raise SourceUnavailable(
        f"The history of branch “{branch}” was rewritten: commit {known[:10]} is not part of "
        f"{head.decode()[:10]}. If that was meant, answer that what is missing is meant to be gone."
    )


def _listed(repo: Repo, known: Listing, branch: str, head: ObjectID) -> Listing:
    """The files at `head`; of unchanged ones the rows are kept as they are."""
    commit = repo[head]
    assert isinstance(commit, Commit)  # noqa: S101 (a branch names a commit)
    files = dict(known.files)
    before = ObjectID(known.tree.encode()) if known.tree else None
    for change in tree_changes(repo.object_store, before, commit.tree):
        if change.old is not None and change.old.path is not None:
            files.pop(os.fsdecode(change.old.path), None)
        if change.new is not None and change.new.path is not None:
            mode, sha = change.new.mode or 0, change.new.sha or ObjectID(b"")
            size = len(_blob(repo, sha.decode())) if stat.S_ISREG(mode) else 0
            path = os.fsdecode(change.new.path)
            files[path] = Entry(mode, sha.decode(), size, int(commit.commit_time))
    return Listing(known.address, branch, head.decode(), commit.tree.decode(), files)


def _blob(repo: Repo, sha: str) -> bytes:
    found = repo[ObjectID(sha.encode())]
    if not isinstance(found, Blob):
        raise KeyError(sha)
    return found.data


def _row(entry: Entry) -> tuple[int, str, int, int]:
    return entry.mode, entry.blob, entry.size, entry.seen
