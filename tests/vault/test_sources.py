"""Sources: what of a folder is read, what is not and why, and that nothing else is touched."""

from __future__ import annotations

import os
import socket
import time
import unicodedata
from datetime import date
from pathlib import Path

import pytest
from pytest_django import Settings

from tests.vault.folders import as_nobody, open_way
from vault.sources.folder import FolderSource
from vault.sources.types import FileBusy, FileUnreadable, Scan, SourceUnavailable


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    return folder


def write(root: Path, path: str, text: str = "text") -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def scan(root: Path, *, templates_folder: str = "") -> Scan:
    return FolderSource(root, templates_folder=templates_folder).scan()


def paths(found: Scan) -> list[str]:
    return sorted(file.path for file in found.files)


def reasons(found: Scan) -> dict[str, str]:
    return {warning.path: warning.reason for warning in found.warnings}


def test_markdown_files_of_every_folder_are_found_with_size_and_time(root: Path) -> None:
    file = write(root, "Deep/er/Note.md", "12345")
    write(root, "upper.MD")
    write(root, "table.csv")
    os.utime(file, ns=(0, 1_700_000_000_123_456_789))
    found = scan(root)
    assert paths(found) == ["Deep/er/Note.md", "upper.MD"]
    state = next(state for state in found.files if state.path == "Deep/er/Note.md")
    assert (state.size, state.content_hash) == (5, "")
    assert state.modified.timestamp() == pytest.approx(1_700_000_000.123456, abs=1e-6)
    assert not found.warnings


@pytest.mark.parametrize(
    "path",
    [
        ".obsidian/plugins/readme.md",
        ".trash/old.md",
        ".git/description.md",
        "site/node_modules/pkg/README.md",
        "note.sync-conflict-20260101-120000-ABC.md",
        "~$note.md",
        ".#note.md",
    ],
)
def test_what_applications_leave_behind_is_ignored(root: Path, path: str) -> None:
    write(root, path)
    write(root, "kept.md")
    assert paths(scan(root)) == ["kept.md"]


def test_a_brainignore_file_is_obeyed_as_gitignore_is(root: Path) -> None:
    write(root, ".brainignore", "\ufeff# mine\nprivate/\n*.draft.md\n!keep.draft.md\n")
    for path in ("private/a.md", "b.draft.md", "keep.draft.md", "deep/private/c.md", "d.md"):
        write(root, path)
    assert paths(scan(root)) == ["d.md", "keep.draft.md"]


def test_the_templates_folder_is_exactly_that_folder(root: Path) -> None:
    for path in ("Templates/a.md", "Templates archive/b.md", "Deep/Templates/c.md"):
        write(root, path)
    found = scan(root, templates_folder="/Templates/")
    assert paths(found) == ["Deep/Templates/c.md", "Templates archive/b.md"]


@pytest.mark.parametrize("name", ["[x] *", "!odd", "#odd", "with \\ sign"])
def test_a_templates_folder_with_pattern_signs_is_taken_literally(root: Path, name: str) -> None:
    write(root, f"{name}/a.md")
    write(root, "x y/b.md")
    assert paths(scan(root, templates_folder=name)) == ["x y/b.md"]


def test_links_lead_nowhere(root: Path, tmp_path: Path) -> None:
    secret = write(tmp_path / "outside", "secret.md", "do not read")
    (root / "note.md").symlink_to(secret)
    (root / "folder").symlink_to(secret.parent)
    (root / "loop").symlink_to(root)
    found = scan(root)
    assert paths(found) == []
    assert set(reasons(found)) == {"note.md", "folder", "loop"}
    assert "symbolic link" in reasons(found)["note.md"]


def test_a_file_swapped_for_a_link_after_the_scan_is_not_followed(
    root: Path, tmp_path: Path
) -> None:
    secret = write(tmp_path / "outside", "secret.md", "do not read")
    write(root, "sub/note.md")
    source = FolderSource(root)
    source.scan()
    (root / "sub/note.md").unlink()
    (root / "sub/note.md").symlink_to(secret)
    with pytest.raises(FileUnreadable, match="symbolic link"):
        source.read("sub/note.md")


def test_a_folder_swapped_for_a_link_after_the_scan_is_not_followed(
    root: Path, tmp_path: Path
) -> None:
    write(tmp_path / "outside", "note.md", "do not read")
    write(root, "sub/note.md")
    source = FolderSource(root)
    source.scan()
    (root / "sub/note.md").unlink()
    (root / "sub").rmdir()
    (root / "sub").symlink_to(tmp_path / "outside")
    with pytest.raises(FileUnreadable):
        source.read("sub/note.md")


@pytest.mark.parametrize("path", ["../outside.md", "/etc/passwd", "a/../../b.md", "note.md/", ""])
def test_only_what_the_scan_found_can_be_read(root: Path, path: str) -> None:
    write(root, "note.md")
    write(root.parent, "outside.md")
    source = FolderSource(root)
    source.scan()
    with pytest.raises(FileUnreadable, match="not in the folder"):
        source.read(path)


def test_pipes_and_sockets_are_skipped_with_a_reason_and_never_opened(root: Path) -> None:
    os.mkfifo(root / "pipe.md")
    server = socket.socket(socket.AF_UNIX)
    here = Path.cwd()
    os.chdir(root)  # a socket's path must be short
    try:
        server.bind("socket.md")
    finally:
        os.chdir(here)
    try:
        found = scan(root)
    finally:
        server.close()
    assert paths(found) == []
    assert "pipe" in reasons(found)["pipe.md"]
    assert "socket" in reasons(found)["socket.md"]


def test_a_file_swapped_for_a_pipe_does_not_hang_the_reader(root: Path) -> None:
    file = write(root, "note.md")
    source = FolderSource(root)
    source.scan()
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(FileUnreadable, match="regular file"):
        source.read("note.md")


def test_names_are_given_in_nfc_and_twins_are_both_kept(root: Path) -> None:
    composed = unicodedata.normalize("NFC", "Café.md")
    decomposed = unicodedata.normalize("NFD", "Café.md")
    write(root, decomposed, "decomposed")
    assert paths(scan(root)) == [composed]
    write(root, composed, "composed")
    source = FolderSource(root)
    found = source.scan()
    assert paths(found) == sorted([composed, decomposed])
    assert source.read(composed)[0] == b"composed"
    assert source.read(decomposed)[0] == b"decomposed"
    assert "other Unicode form" in reasons(found)[decomposed]


def test_names_that_differ_in_case_are_two_notes(root: Path) -> None:
    write(root, "Note.md")
    write(root, "note.md")
    assert paths(scan(root)) == ["Note.md", "note.md"]


def test_a_name_that_is_no_utf8_is_read_under_an_escaped_path(root: Path) -> None:
    (Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9.md"))).write_text("old disk")
    source = FolderSource(root)
    found = source.scan()
    assert paths(found) == ["caf\\xe9.md"]
    assert source.read("caf\\xe9.md")[0] == b"old disk"
    assert "UTF-8" in reasons(found)["caf\\xe9.md"]


def test_what_may_not_be_read_is_told_and_named_as_out_of_sight(root: Path) -> None:
    closed = write(root, "closed/note.md").parent
    file = write(root, "secret.md")
    write(root, "open.md")
    open_way(root / "x")
    closed.chmod(0)
    file.chmod(0)
    source = FolderSource(root)
    with as_nobody():
        found = source.scan()
        with pytest.raises(FileUnreadable, match="Permission denied"):
            source.read("secret.md")
    closed.chmod(0o755)
    assert paths(found) == ["open.md", "secret.md"]
    assert found.unreadable == ("closed",)
    assert "Permission denied" in reasons(found)["closed"]


def test_a_place_that_is_gone_or_no_folder_is_told(root: Path) -> None:
    with pytest.raises(SourceUnavailable, match="is not there"):
        scan(root / "missing")
    with pytest.raises(SourceUnavailable, match="is not there"):
        scan(write(root, "file.md"))
    with pytest.raises(SourceUnavailable, match="cannot be read"):
        scan(Path("bad\0name"))


def test_a_vanished_file_is_told_at_reading(root: Path) -> None:
    file = write(root, "note.md")
    source = FolderSource(root)
    source.scan()
    file.unlink()
    with pytest.raises(FileUnreadable, match="vanished"):
        source.read("note.md")


def test_a_file_that_was_written_a_moment_ago_is_left_for_later(
    root: Path, settings: Settings
) -> None:
    settings.QUIET_SECONDS = 60
    file = write(root, "note.md")
    source = FolderSource(root)
    source.scan()
    with pytest.raises(FileBusy):
        source.read("note.md")
    past = time.time() - 61
    os.utime(file, (past, past))
    assert source.read("note.md")[0] == b"text"
    future = time.time() + 3600
    os.utime(file, (future, future))
    assert source.read("note.md")[0] == b"text"


def test_a_file_that_became_much_larger_than_it_looked_is_left_for_later(root: Path) -> None:
    file = write(root, "note.md")
    source = FolderSource(root)
    source.scan()
    with file.open("ab") as grown:
        grown.truncate(3_000_000_000)
    past = time.time() - 3600
    os.utime(file, (past, past))
    with pytest.raises(FileBusy, match="grew"):
        source.read("note.md")
    source.scan()
    file.write_bytes(b"short again")
    os.utime(file, (past, past))
    assert source.read("note.md")[0] == b"short again"


@pytest.mark.parametrize("seconds", [-9_000, 9_000_000_000])
def test_a_time_that_no_clock_can_mean_is_taken_as_the_first_day(root: Path, seconds: int) -> None:
    os.utime(write(root, "note.md"), (seconds, seconds))
    (state,) = scan(root).files
    assert state.modified.date() == date(1970, 1, 1)


def test_folders_without_end_are_cut_with_a_reason(root: Path) -> None:
    deep = root
    here = os.open(root, os.O_RDONLY)
    try:
        for _level in range(102):
            os.mkdir("d", dir_fd=here)
            deeper = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = deeper
    finally:
        os.close(here)
    found = scan(deep)
    assert any("deeper" in reason for reason in reasons(found).values())


def test_files_of_kinds_that_are_not_read_are_counted_by_suffix(root: Path) -> None:
    for name in ("a.md", "a.rst", "sub/b.RST", "c.docx", "p.png", "song.mp3", "x.zip", "LICENSE"):
        write(root, name)
    for hidden in (".github/x.rst", ".hidden.rst", "sub/.cache/x.rst", "out/x.rst", "~$c.docx"):
        write(root, hidden)
    write(root, ".brainignore", "out/")
    (root / "link.rst").symlink_to(root / "a.rst")
    assert list(scan(root).not_read.items()) == [(".rst", 2), (".docx", 1), ("other", 1)]
