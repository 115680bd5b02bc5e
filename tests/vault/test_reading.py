"""Reading: bytes to pieces, and files that no parser should get hold of alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from vault import reading
from vault.core.types import ChunkLimits
from vault.reading import ReadingOptions, parse_file, read_note

OPTIONS = ReadingOptions(limits=ChunkLimits())


def large(text: str) -> bytes:
    """`text` again and again until a file of its own process is due."""
    return (text * (reading.LARGE // len(text.encode()) + 2)).encode()


def test_a_small_note_is_read_here() -> None:
    read = read_note(b"# T\n\nwords", path="a.md", options=OPTIONS)
    assert read.note is not None
    assert read.note.title == "T"
    assert [chunk.content for chunk in read.chunks]


def test_a_large_note_is_read_in_a_process_with_the_same_outcome() -> None:
    data = large("## Heading\n\nA paragraph of some length, [[linked]] to another.\n\n")
    assert read_note(data, path="a.md", options=OPTIONS) == parse_file(
        data, path="a.md", options=OPTIONS
    )


def test_a_secret_in_a_large_note_does_not_come_back() -> None:
    secret = "ghp_" + "a1B2" * 9
    read = read_note(
        large("Words.\n\n") + f"\n\ntoken: {secret}\n".encode(), path="a.md", options=OPTIONS
    )
    assert read.note is not None
    assert secret not in read.note.body
    assert len(read.findings) == 1


def test_a_binary_file_is_refused_with_a_reason() -> None:
    read = read_note(bytes(range(256)) * 40, path="a.md", options=OPTIONS)
    assert read.note is None
    assert "binary" in read.refusal


def test_a_file_that_takes_too_long_is_refused_and_its_process_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "MOST_SECONDS", 0.01)
    read = read_note(large("word\n\n"), path="a.md", options=OPTIONS)
    assert read.note is None
    assert "took longer" in read.refusal


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("raise MemoryError", "memory"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "memory"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGXCPU)", "took longer"),
        ("raise ValueError('no luck')", "no luck"),
        ("import sys; sys.exit(3)", "exit 3"),
    ],
)
def test_a_process_that_dies_leaves_a_reason(
    program: str, reason: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "python"
    fake.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{program}"\n')
    fake.chmod(0o755)
    monkeypatch.setattr(reading.sys, "executable", str(fake))  # type: ignore[attr-defined]
    read = read_note(large("word\n\n"), path="a.md", options=OPTIONS)
    assert read.note is None
    assert reason in read.refusal


def test_the_limits_are_set_before_the_file_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        reading,
        "SERVE",
        "import resource, vault.reading as r; r.limit_this_process(); "
        "raise SystemExit(str(resource.getrlimit(resource.RLIMIT_AS)[0]))",
    )
    read = read_note(large("word\n\n"), path="a.md", options=OPTIONS)
    assert str(reading.MOST_BYTES) in read.refusal
