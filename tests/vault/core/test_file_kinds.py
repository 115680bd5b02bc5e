"""Files by their suffix."""

from __future__ import annotations

import pytest

from vault.core.file_kinds import (
    DEFAULT_CODE_SUFFIXES,
    kind_of,
    language_of,
    read_suffixes,
    suffix_of,
)
from vault.core.types import NoteKind


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a.md", NoteKind.NOTE),
        ("A.MARKDOWN", NoteKind.NOTE),
        ("plan.excalidraw.md", NoteKind.NOTE),
        ("b/Board.canvas", NoteKind.CANVAS),
        ("b/old.excalidraw", NoteKind.CANVAS),
        ("src/main.py", NoteKind.CODE),
        ("src/odd.xyz", NoteKind.CODE),
        ("README", NoteKind.NOTE),
    ],
)
def test_a_suffix_tells_the_kind(path: str, kind: NoteKind) -> None:
    assert kind_of(path) is kind


def test_suffixes_and_languages() -> None:
    assert [suffix_of(path) for path in ("a/b.PY", ".gitignore", "x.tar.gz", "d.ir/x")] == [
        ".py", "", ".gz", "",
    ]  # fmt: skip
    assert (language_of("a.rs"), language_of("a.zig"), language_of("a")) == ("rust", "zig", "")


def test_suffixes_are_read_as_people_write_them() -> None:
    assert read_suffixes(".py js, *.TS;.py\n.c++") == (".py", ".js", ".ts", ".c++")
    assert read_suffixes("  ") == ()
    defaults = read_suffixes(DEFAULT_CODE_SUFFIXES)
    assert ".py" in defaults
    assert not {".json", ".html", ".txt", ".md"} & set(defaults)


@pytest.mark.parametrize("text", [".md", "py .canvas", "a/b", "*", ".p y!"])
def test_what_is_no_suffix_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no suffix|read anyway"):
        read_suffixes(text)
