"""Files by their suffix."""

from __future__ import annotations

import pytest

from vault.core.file_kinds import (
    DEFAULT_CODE_SUFFIXES,
    MOST_KINDS,
    OTHER_KINDS,
    kind_of,
    language_of,
    most_frequent_kinds,
    read_suffixes,
    suffix_of,
    unread_kind,
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


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("docs/index.RST", ".rst"),
        ("a.docx", ".docx"),
        ("LICENSE", OTHER_KINDS),
        ("odd.name of many words", OTHER_KINDS),
        ("a.JPG", ""),
        ("a.mp3", ""),
        ("a.tar.gz", ""),
        (".env", ""),
        ("a/.github/x.rst", ""),
    ],
)
def test_a_file_that_is_not_read_is_counted_by_its_kind(path: str, kind: str) -> None:
    assert unread_kind(path) == kind


def test_the_most_frequent_kinds_come_first_and_the_rest_is_one_number() -> None:
    counts = {f".k{number}": number for number in range(1, MOST_KINDS + 3)}
    found = most_frequent_kinds(counts | {"": 99, OTHER_KINDS: 4})
    assert next(iter(found.items())) == (f".k{MOST_KINDS + 2}", MOST_KINDS + 2)
    assert (len(found), found[OTHER_KINDS]) == (MOST_KINDS + 1, 4 + 1 + 2)
    assert sum(found.values()) == sum(counts.values()) + 4
    assert most_frequent_kinds({"": 3, ".rst": 1}) == {".rst": 1}
