"""The paths under which files are known: NFC, printable, each once."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable

from vault.core.types import FileWarning


def named_paths(raws: Iterable[str]) -> tuple[dict[str, str], list[FileWarning]]:
    """Raw paths by the path they are known under; a twin in another form keeps its raw one."""
    by_path: dict[str, str] = {}
    warnings: list[FileWarning] = []
    for raw in sorted(raws, key=lambda raw: (printable(raw) != raw, raw)):
        path = printable(raw)
        if path in by_path:
            path = escaped(raw)
            warnings.append(
                FileWarning(path, "Another file has the same name in other Unicode form.")
            )
        elif path != unicodedata.normalize("NFC", raw):
            warnings.append(FileWarning(path, "The file name is not valid UTF-8."))
        by_path[path] = raw
    return by_path, warnings


def printable(raw: str) -> str:
    """NFC, with bytes that are no UTF-8 written as \\xff."""
    return unicodedata.normalize("NFC", escaped(raw))


def escaped(raw: str) -> str:
    """As the file system has it, with bytes that are no UTF-8 written as \\xff."""
    return os.fsencode(raw).decode("utf-8", "backslashreplace")
