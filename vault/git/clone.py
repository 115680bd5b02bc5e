"""A clone of one branch: bare, shallow, brought up to date by fetching.

Beside the objects lie a list of the branch's files and their contents (listing.py). A new
commit changes only the rows of the paths that differ between the two trees.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dulwich.client import HTTPUnauthorized, LsRemoteResult
from dulwich.diff_tree import TreeChange, tree_changes
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
from vault.git.http import GuardedGitClient, Most, git_client
from vault.git.listing import (
    Entry,
    Listing,
    drop_contents,
    load_listing,
    save_content,
    save_listing,
)
from vault.git.trouble import AddressRefused, FetchTooLarge, GitOffline, GitUnavailable

# The names of its branches are all that a server says before a process of its own listens.
MOST_NAMES = 8_000_000

_BROKEN = (ChecksumMismatch, FileFormatException, MissingCommitError, KeyError, AssertionError)


@dataclass(frozen=True, slots=True)
class Remote:
    """What is followed: a branch of a repository; an empty branch is the default one.

    `allowed` are the private places that may be called.
    """

    address: GitAddress
    branch: str = ""
    token: str = field(default="", repr=False)
    allowed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a repository may cost. `memory`, `data` and `content` (one file) in bytes.

    `depths`: commits that a fetch looks back for the one it knows. Each fetch leaves a
    pack: after `packs` of them they are made one.
    """

    data: int = 1_000_000_000
    memory: int = 1_000_000_000
    seconds: float = 240.0
    files: int = 200_000
    content: int = 100_000_000
    depths: tuple[int, ...] = (50, 1000)
    packs: int = 20


@dataclass(frozen=True, slots=True)
class Head:
    """The commit that a branch is at."""

    branch: str
    commit: str


def ask_head(remote: Remote, *, seconds: float) -> Head:
    """Where the branch is now. Raises GitOffline; GitUnavailable when it is gone."""
    with explained(remote):
        most = Most(MOST_NAMES, seconds)
        client = git_client(remote.address, allowed=remote.allowed, most=most, token=remote.token)
        found = client.get_refs(b"")
        branch = remote.branch or _default_branch(found)
        head = found.refs.get(Ref(_ref(branch)))
        if head is None:
            raise GitUnavailable(_no_such_branch(branch, found))
        return Head(branch, head.decode())


def fetch(place: Path, remote: Remote, head: Head, bounds: Bounds, *, take_rewritten: bool) -> None:
    """Bring the clone in the folder `place` to `head`, with list and contents.

    Only one process may do so at a time. Raises GitOffline; GitUnavailable when the branch
    was rewritten and nobody said that the new history is to be taken.
    """
    known = load_listing(place)
    if known.address != remote.address.url:
        known = Listing(address=remote.address.url)
    with explained(remote), _opened(place) as repo:
        _fetch_objects(repo, remote, head, bounds, known)
        commit = _commit(repo, head)
        if known.commit and known.branch == head.branch and not take_rewritten:
            _refuse_rewritten(repo, head, known.commit)
        _accept(repo, place, _Lister(repo, place, bounds).listed(known, head, commit), bounds)


@contextmanager
def _opened(place: Path) -> Iterator[Repo]:
    objects = place / "objects"
    if objects.is_dir():
        # What a fetch that was cut left behind can be as large as the repository.
        for unfinished in (*objects.glob("tmp_*"), *objects.glob("pack/tmp_*")):
            unfinished.unlink()
        repo = Repo(str(place))
    else:
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        repo = Repo.init_bare(str(place))
    try:
        yield repo
    finally:
        repo.close()


def _fetch_objects(repo: Repo, remote: Remote, head: Head, bounds: Bounds, known: Listing) -> None:
    """Objects of the branch, back to the commit that is known where it is near."""
    client: GuardedGitClient = git_client(
        remote.address,
        allowed=remote.allowed,
        most=Most(bounds.data, bounds.seconds),
        token=remote.token,
    )
    wanted = ObjectID(head.commit.encode())
    for depth in bounds.depths if known.commit else (1,):
        client.fetch(b"", repo, determine_wants=_Only(wanted), depth=depth)
        if not known.commit or _descends(repo, wanted, known.commit):
            return


def _commit(repo: Repo, head: Head) -> Commit:
    try:
        found = repo[ObjectID(head.commit.encode())]
    except KeyError:
        found = None
    if not isinstance(found, Commit):
        raise GitOffline(
            f"The server says that branch “{head.branch}” is at commit {head.commit[:10]}, and "
            "does not send that commit: the repository is damaged there. Let its keeper run "
            "git fsck."
        )
    return found


def _accept(repo: Repo, place: Path, listing: Listing, bounds: Bounds) -> None:
    """Remember the commit: what the next fetch need not send again."""
    repo.refs[Ref(_ref(listing.branch))] = ObjectID(listing.commit.encode())
    if len(list(repo.object_store.packs)) > bounds.packs:
        repo.object_store.repack()
    save_listing(place, listing)
    drop_contents(place, but={entry.blob for entry in listing.files.values()})


@dataclass(frozen=True, slots=True)
class _Only:
    """Wants one commit, whatever else the server has."""

    head: ObjectID

    def __call__(self, refs: Mapping[Ref, ObjectID], depth: int | None = None) -> list[ObjectID]:
        return [self.head]


@contextmanager
def explained(remote: Remote) -> Iterator[None]:
    """Say in words what a fetch failed at. The token is in none of them."""
    host = remote.address.host
    try:
        yield
    except AddressRefused as error:
        raise GitOffline(str(error)) from error
    except HTTPUnauthorized as error:
        raise GitOffline(
            f"{host} refuses to show the repository without a valid token. Put one into an "
            "environment variable such as GIT_TOKEN_NOTES, name it in the vault's settings, and "
            "restart."
        ) from error
    except NotGitRepository as error:
        raise GitOffline(
            f"{host} has no repository at {remote.address.url}, or does not show it without a "
            "token. Correct the address, or name the variable of a token."
        ) from error
    except FetchTooLarge as error:
        raise GitUnavailable(f"The repository is too large to be read. {error}") from error
    except (GitProtocolError, HangupException, OSError) as error:
        raise GitOffline(f"{remote.address.url} could not be fetched: {_words(error)}") from error
    except _BROKEN as error:
        raise GitOffline(
            f"What {remote.address.url} sent, or its clone, cannot be read "
            f"({type(error).__name__}). Where git fsck finds nothing wrong on the server, remove "
            "the clone's folder under DATA_DIR/git: it is fetched anew."
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


def _refuse_rewritten(repo: Repo, head: Head, known: str) -> None:
    if _descends(repo, ObjectID(head.commit.encode()), known):
        return
    raise GitUnavailable(
        f"The history of branch “{head.branch}” was rewritten: commit {known[:10]} is not part of "
        f"{head.commit[:10]}. If that was meant, answer that what is missing is meant to be gone."
    )


@dataclass(frozen=True, slots=True)
class _Lister:
    """Makes the list of a branch's files, and unpacks what is new in it."""

    repo: Repo
    place: Path
    bounds: Bounds

    def listed(self, known: Listing, head: Head, commit: Commit) -> Listing:
        """The files at `head`; of unchanged ones the rows are kept as they are."""
        files = dict(known.files)
        before = ObjectID(known.tree.encode()) if known.tree else None
        for change in tree_changes(self.repo.object_store, before, commit.tree):
            self._apply(change, files, seen=int(commit.commit_time))
            if len(files) > self.bounds.files:
                raise FetchTooLarge(
                    f"Branch “{head.branch}” holds more than {self.bounds.files:,} files. Follow "
                    "a branch, or a repository, of notes alone."
                )
        return Listing(known.address, head.branch, head.commit, commit.tree.decode(), files)

    def _apply(self, change: TreeChange, files: dict[str, Entry], *, seen: int) -> None:
        if change.old is not None and change.old.path is not None:
            files.pop(os.fsdecode(change.old.path), None)
        if change.new is not None and change.new.path is not None:
            mode, sha = change.new.mode or 0, change.new.sha or ObjectID(b"")
            size = self._unpacked(sha) if stat.S_ISREG(mode) else 0
            files[os.fsdecode(change.new.path)] = Entry(mode, sha.decode(), size, seen)

    def _unpacked(self, sha: ObjectID) -> int:
        """Keep the content of a file; returns its size."""
        found = self.repo[sha]
        if not isinstance(found, Blob):
            raise KeyError(sha)
        data = found.data
        if len(data) <= self.bounds.content:
            save_content(self.place, sha.decode(), data)
        return len(data)
