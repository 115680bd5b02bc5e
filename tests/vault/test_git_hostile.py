"""Repositories made to do harm: the process that unpacks them ends, the vault keeps its state."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from dulwich.objects import Blob, Commit, ObjectID, Tree
from dulwich.refs import Ref
from dulwich.repo import Repo
from pytest_django import Settings

from tests.git_server import REGULAR, GitServer, git_server
from tests.vault.processes import in_a_copy, is_running, wait_until
from vault.adding import add_vault, place_of
from vault.core.git_addresses import read_git_address
from vault.git import clone, fetching
from vault.git.clone import Head, Remote, fetch
from vault.git.listing import CONTENTS
from vault.git.trouble import GitOffline, GitUnavailable
from vault.models import Note, SyncRun, Vault
from vault.sources.git import clone_place
from vault.sync import answer_pause, sync_vault

pytestmark = pytest.mark.django_db

MAIN = Ref(b"refs/heads/main")
MB = 1_000_000


@pytest.fixture
def server(tmp_path: Path, settings: Settings) -> Iterator[GitServer]:
    settings.DATA_DIR = tmp_path / "data"
    with git_server(tmp_path / "served") as served:
        settings.ALLOWED_PRIVATE_ENDPOINTS = [urlsplit(served.url).netloc]
        served.commit({"a.md": "# Apples"})
        yield served


@pytest.fixture
def vault(server: GitServer) -> Vault:
    """A vault that was read once, while all was well."""
    made, _new = add_vault(place_of(server.url), slug="notes")
    assert sync_vault(made.pk).state == SyncRun.State.DONE
    return made


def bound(monkeypatch: pytest.MonkeyPatch, **bounds: Any) -> None:
    monkeypatch.setattr(fetching, "BOUNDS", replace(fetching.BOUNDS, **bounds))


def commit_tree(server: GitServer, tree: ObjectID, *, at: int = 1_800_000_000) -> None:
    """A commit of this tree on top of the branch, whatever is missing in it."""
    made = Commit()
    made.tree, made.parents = tree, [server.repo.refs[MAIN]]
    made.author = made.committer = b"Anna <anna@example.com>"
    made.author_time = made.commit_time = at
    made.author_timezone = made.commit_timezone = 0
    made.message = b"Write notes"
    server.repo.object_store.add_object(made)
    server.repo.refs[MAIN] = made.id


def stored(vault: Vault) -> list[str]:
    return list(Note.objects.filter(vault=vault).values_list("path", flat=True))


def test_a_pack_that_unpacks_to_more_than_the_memory_pauses_the_vault(
    server: GitServer, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound(monkeypatch, memory=200 * MB)
    server.commit({"a.md": "# Changed", "bomb.md": bytes(150 * MB)})
    run = sync_vault(vault.pk)
    assert run.state == SyncRun.State.PAUSED
    assert "more than 200 MB of memory" in run.error
    assert Note.objects.get(vault=vault).title == "Apples"
    answer_pause(vault.pk, delete=False)
    server.commit({"a.md": "# Mended"}, is_rewritten=True)
    assert "was rewritten" in sync_vault(vault.pk).error


def test_a_tree_of_a_billion_paths_is_refused_at_the_bound(
    server: GitServer, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound(monkeypatch, files=500)
    blob = Blob.from_string(b"# Boom")
    server.repo.object_store.add_object(blob)
    inside = (REGULAR, blob.id)
    for _level in range(9):
        tree = Tree()
        for number in range(10):
            tree.add(f"{number}.md".encode(), *inside)
        server.repo.object_store.add_object(tree)
        inside = (0o040000, tree.id)
    commit_tree(server, inside[1])
    run = sync_vault(vault.pk)
    assert run.state == SyncRun.State.PAUSED
    assert "more than 500 files" in run.error
    assert stored(vault) == ["a.md"]


def test_a_branch_at_a_commit_that_the_server_does_not_have(
    server: GitServer, vault: Vault
) -> None:
    remote = Remote(read_git_address(server.url), allowed=(urlsplit(server.url).netloc,))
    place = clone_place(vault.pk)
    with pytest.raises(GitOffline, match=r"could not be fetched|git fsck"):
        fetch(place, remote, Head("main", "1" * 40), fetching.BOUNDS, take_rewritten=False)
    with closing(Repo(str(place))) as repo, pytest.raises(GitOffline, match="git fsck"):
        clone._commit(repo, Head("main", "1" * 40))
    assert sync_vault(vault.pk).counts["changes"] == 0


def test_a_commit_without_its_tree(server: GitServer, vault: Vault) -> None:
    commit_tree(server, ObjectID(b"2" * 40))
    run = sync_vault(vault.pk)
    assert (run.state, stored(vault)) == (SyncRun.State.FAILED, ["a.md"])
    assert run.error
    server.commit({"a.md": "# Mended"}, is_rewritten=True)
    assert sync_vault(vault.pk).state == SyncRun.State.PAUSED
    answer_pause(vault.pk, delete=True)
    assert sync_vault(vault.pk).state == SyncRun.State.DONE
    assert Note.objects.get(vault=vault).title == "Mended"


def test_what_a_fetch_that_was_cut_left_behind_is_removed(server: GitServer, vault: Vault) -> None:
    objects = clone_place(vault.pk) / "objects"
    left = [objects / "tmp_obj_x", objects / "pack" / "tmp_pack_x"]
    for path in left:
        path.write_bytes(b"half a pack")
    server.commit({"a.md": "# Apricots"})
    assert sync_vault(vault.pk).state == SyncRun.State.DONE
    assert not any(path.exists() for path in left)


def test_contents_that_no_file_has_any_more_are_dropped(server: GitServer, vault: Vault) -> None:
    contents = clone_place(vault.pk) / CONTENTS
    [first] = contents.glob("*/*")
    server.commit({"a.md": "# Apricots", "same.md": "# Apricots"})
    sync_vault(vault.pk)
    [second] = contents.glob("*/*")
    assert first != second


def test_a_content_that_was_lost_keeps_the_note_and_says_how_to_mend_it(
    server: GitServer, vault: Vault
) -> None:
    [content] = (clone_place(vault.pk) / CONTENTS).glob("*/*")
    content.write_bytes(b"not what it was")
    run = sync_vault(vault.pk, full=True)
    assert stored(vault) == ["a.md"]
    assert "DATA_DIR/git" in run.warnings[0]["reason"]


def request(place: Path, **bounds: Any) -> fetching._Request:
    remote = Remote(read_git_address("https://git.example.com/notes.git"))
    limits = replace(fetching.BOUNDS, **bounds)
    head = Head("main", "0" * 40)
    return fetching._Request(place, remote, head, limits, take_rewritten=False, parent=os.getpid())


SERVED = "from vault.git import fetching as f; f.fetch = lambda *a, **k: {work}; f.serve()"


@pytest.mark.parametrize(
    ("work", "error", "words"),
    [
        ("bytearray(10**10)", GitUnavailable, "more than 1,000 MB of memory"),
        ("__import__('os').kill(__import__('os').getpid(), 9)", GitUnavailable, "of memory"),
        ("__import__('os').kill(__import__('os').getpid(), 24)", GitUnavailable, "longer than"),
        ("[][0]", GitOffline, "ended by itself"),
    ],
)
def test_the_end_of_the_process_is_told_in_words(
    work: str,
    error: type[Exception],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fetching, "SERVE", SERVED.format(work=work))
    with pytest.raises(error, match=words):
        fetching._in_a_process(request(tmp_path))


def test_a_process_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "SERVE", "import signal; signal.pause()")
    monkeypatch.setattr(fetching, "GRACE", 0.1)
    with pytest.raises(GitUnavailable, match="longer than"):
        fetching._in_a_process(request(tmp_path, seconds=0.1))


def test_the_process_ends_with_the_one_that_asked_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "pid"
    served = f"""
import os, pathlib, signal
from vault.git import fetching
def fetch(*_, **__):
    pathlib.Path({str(mark)!r}).write_text(str(os.getpid()))
    signal.pause()
fetching.fetch = fetch
fetching.serve()
"""
    monkeypatch.setattr(fetching, "SERVE", served)

    def ask_and_die() -> None:
        asked = request(tmp_path)
        threading.Thread(target=fetching._in_a_process, args=(asked,), daemon=True).start()
        wait_until(lambda: mark.exists() and bool(mark.read_text()), "the process is at work")
        os.kill(os.getpid(), signal.SIGKILL)

    assert in_a_copy(ask_and_die) == signal.SIGKILL
    wait_until(partial(lambda pid: not is_running(pid), int(mark.read_text())), "it has ended")


def test_a_commit_of_a_time_that_no_calendar_holds_is_read(server: GitServer, vault: Vault) -> None:
    blob, tree = Blob.from_string(b"# Pears"), Tree()
    tree.add(b"b.md", REGULAR, blob.id)
    for made in (blob, tree):
        server.repo.object_store.add_object(made)
    commit_tree(server, tree.id, at=2**50)
    run = sync_vault(vault.pk)
    assert run.state == SyncRun.State.DONE, run.error
    assert Note.objects.get(vault=vault, path="b.md").file_modified.year == 1970
