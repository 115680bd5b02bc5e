"""Normal forms of titles, aliases and paths, for look-ups by exact name."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from vault.core.folding import visible

# Left off where a note is named: titles, links, the tree.
_NOTE_SUFFIXES = (".excalidraw.md", ".md", ".markdown", ".canvas", ".excalidraw")
_QUOTES = "\"'«»“”„‘’"


def lookup_key(text: str) -> str:
    """The one form under which a name is stored and asked for.

    Case, Unicode form, width and runs of blanks do not matter, nor do quotes around it or
    a question mark after it; accents and signs (`C#`, `.NET`) do.
    """
    folded = unicodedata.normalize("NFKC", visible(text)).casefold()
    folded = " ".join(unicodedata.normalize("NFKC", folded).split())
    return folded.rstrip("?!" + _QUOTES).lstrip(_QUOTES).strip()


def lookup_keys(*, title: str, aliases: Iterable[str], path: str) -> list[str]:
    """Every key under which a note is found: title, aliases, file name and path, each once."""
    bare_path = without_suffix(path)
    names = (title, *aliases, file_name(bare_path), file_name(path), bare_path, path)
    keys = (lookup_key(name) for name in names)
    return list(dict.fromkeys(key for key in keys if key))


def normalise_path(path: str) -> str:
    """A path inside the vault: relative, NFC, forward slashes, no empty or dotted parts.

    Raises ValueError when `..` would leave the vault, or nothing remains.
    """
    parts: list[str] = []
    for part in unicodedata.normalize("NFC", path).split("/"):
        if part == "..":
            if not parts:
                raise ValueError(f"{path!r} leaves the vault")
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    if not parts:
        raise ValueError(f"{path!r} names no file")
    return "/".join(parts)


def file_name(path: str) -> str:
    """The last part of a path."""
    return path.rpartition("/")[2]


def folder_of(path: str) -> str:
    """The path without its last part; empty for a file in the root."""
    return path.rpartition("/")[0]


def without_suffix(path: str) -> str:
    """The path of a note without `.md`; other files keep their suffix."""
    for suffix in _NOTE_SUFFIXES:
        if path.lower().endswith(suffix) and len(file_name(path)) > len(suffix):
            return path[: -len(suffix)]
    return path
