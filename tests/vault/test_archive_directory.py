"""Archives whose table of contents is too long to be opened."""

from __future__ import annotations

import io
import zipfile

import pytest

from vault.archive_directory import LARGEST_DIRECTORY, refuse_long_directory
from vault.core.archives import ArchiveRefused

END = b"PK\x05\x06"


def archive_of(files: int, *, comment: bytes = b"", before: bytes = b"") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(files):
            archive.writestr(f"{number}.md", "x")
        archive.comment = comment
    return before + packed.getvalue()


def is_refused(content: bytes, *, most_entries: int) -> bool:
    try:
        refuse_long_directory(io.BytesIO(content), most_entries=most_entries)
    except ArchiveRefused as error:
        assert "table of contents is too long" in str(error)
        return True
    return False


@pytest.mark.parametrize(
    "content",
    [
        archive_of(9),
        archive_of(9, comment=b"packed by hand"),
        archive_of(9, before=b"#!/bin/sh " * 9),
    ],
    ids=["plain", "comment", "behind a program"],
)
def test_an_archive_of_more_entries_than_may_be_is_refused(content: bytes) -> None:
    assert is_refused(content, most_entries=8)
    assert not is_refused(content, most_entries=9)


def test_entries_are_counted_whatever_number_the_archive_claims() -> None:
    content = archive_of(9)
    at = content.rindex(END)
    liar = content[: at + 8] + b"\x01\0\x01\0" + content[at + 12 :]
    assert len(zipfile.ZipFile(io.BytesIO(liar)).infolist()) == 9
    assert is_refused(liar, most_entries=8)
    boaster = content[: at + 8] + b"\xff\xff\xff\xff" + content[at + 12 :]
    assert is_refused(boaster, most_entries=60_000)


def test_the_table_of_an_archive_with_long_numbers_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Such as one of more than 65,535 entries: the numbers stand in a record of their own."""
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 5)
    content = archive_of(9)
    assert b"PK\x06\x06" in content
    assert is_refused(content, most_entries=8)
    assert not is_refused(content, most_entries=9)


def test_a_table_of_few_entries_and_many_bytes_is_refused() -> None:
    entry = b"PK\x01\x02" + bytes(LARGEST_DIRECTORY)
    end = END + bytes(4) + b"\x01\0\x01\0" + len(entry).to_bytes(4, "little") + bytes(6)
    assert is_refused(entry + end, most_entries=9)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no archive",
        END,
        END + b"\xff" * 18,
        archive_of(3)[:60],
        archive_of(3, comment=END + b"no end"),
    ],
    ids=["empty", "text", "an end", "numbers", "cut", "comment like an end"],
)
def test_of_what_is_no_archive_opening_it_tells(content: bytes) -> None:
    assert not is_refused(content, most_entries=0)
    with pytest.raises(zipfile.BadZipFile):
        zipfile.ZipFile(io.BytesIO(content))


def test_the_archive_is_left_at_its_start() -> None:
    archive = io.BytesIO(archive_of(2))
    refuse_long_directory(archive, most_entries=2)
    assert archive.tell() == 0
