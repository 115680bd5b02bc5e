"""Ingestion never writes to a source: seen at every call that could."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.vault.folders import Folder, make_folder
from tests.vault.pdf_files import pdf
from vault.models import SyncRun

pytestmark = pytest.mark.django_db

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CHANGES = {
    *("os.chmod", "os.chown", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir"),
    *("os.symlink", "os.truncate", "os.utime", "os.setxattr", "os.removexattr"),
}


class Watch:
    """Notes what this process changes at `root`, or at a name relative to an open folder."""

    def __init__(self) -> None:
        self.root = ""
        self.seen: list[str] = []
        self.opened = 0

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.root or not arguments or not isinstance(arguments[0], str | bytes):
            return
        path = os.fsdecode(arguments[0])
        if os.path.isabs(path) and not path.startswith(self.root):  # noqa: PTH117 (no I/O here)
            return
        if event == "open":
            self.opened += 1
            if (arguments[2] or 0) & WRITING:
                self.seen.append(f"open {path}")
        elif event in CHANGES:
            self.seen.append(f"{event} {path}")


_watch = Watch()
sys.addaudithook(_watch)


@pytest.fixture
def watch() -> Iterator[Watch]:
    _watch.seen, _watch.opened = [], 0
    yield _watch
    _watch.root = ""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    made = make_folder(tmp_path / "notes")
    made.write("a.md", "# Apples\n\n[[b]] ![[plan.png]] ![[manual.pdf#page=1]]")
    made.write("sub/b.md", "# B\r\n\x00 \xff")
    made.write("sub/plan.png", b"\x89PNG\r\n\x1a\n")
    made.write("sub/manual.pdf", pdf([["Drain it."]]))
    made.write("board.canvas", "{}")
    made.write("tool.py", "def drain():\n    return 1\n")
    made.write(".brainignore", "ignored/\n")
    made.write("secondbrain.json", "{}")
    for path in sorted(made.root.rglob("*"), reverse=True):
        path.chmod(0o555 if path.is_dir() else 0o444)
    made.root.chmod(0o555)
    yield made
    for path in (made.root, made.root / "sub"):
        path.chmod(0o755)


def times(root: Path) -> dict[str, tuple[int, int, int]]:
    found = {str(path): path.stat() for path in (root, *root.rglob("*"))}
    return {name: (s.st_mtime_ns, s.st_ctime_ns, s.st_mode) for name, s in found.items()}


@pytest.mark.parametrize("full", [False, True])
def test_a_folder_that_nobody_may_write_to_is_read_without_a_try(
    folder: Folder, watch: Watch, *, full: bool
) -> None:
    before = times(folder.root)
    watch.root = str(folder.root)
    run = folder.sync(full=full)
    watch.root = ""
    assert run.state in (SyncRun.State.DONE, SyncRun.State.WARNINGS)
    assert len(folder.paths()) >= 5
    assert watch.opened > 5
    assert watch.seen == []
    assert times(folder.root) == before


def test_the_watch_sees_what_would_be_written(tmp_path: Path, watch: Watch) -> None:
    watch.root = str(tmp_path)
    (tmp_path / "x").write_text("words")
    (tmp_path / "x").unlink()
    watch.root = ""
    assert [seen.split()[0] for seen in watch.seen] == ["open", "os.remove"]
