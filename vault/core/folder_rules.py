"""Which folders of a vault a membership opens: only some, or all but some.

A rule without folders opens the whole vault. Of several memberships (one's own, those of
one's groups) each opens what it opens; together they open all of that.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

MOST_FOLDERS = 100
LONGEST_FOLDER = 1000


class BadFolder(ValueError):
    """`str()` says which line is no folder, and why."""


@dataclass(frozen=True, slots=True)
class FolderRule:
    """What one membership opens of a vault: `only` these folders (all, if empty), less `never`.

    Folders are paths relative to the vault, without slashes at their ends; a note's own path
    names that note alone.
    """

    vault_id: int
    only: tuple[str, ...] = ()
    never: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether it opens the whole vault."""
        return not (self.only or self.never)

    def opens(self, path: str) -> bool:
        """Whether the note or file at `path` may be seen by this rule."""
        allowed = not self.only or _is_under(path, self.only)
        return allowed and not _is_under(path, self.never)


def opens(rules: Iterable[FolderRule], vault_id: int, path: str) -> bool:
    """Whether `path` of a vault may be seen: a vault without a rule is open as a whole."""
    own = [rule for rule in rules if rule.vault_id == vault_id]
    return not own or any(rule.opens(path) for rule in own)


def read_folders(text: str) -> tuple[str, ...]:
    """The folders named in `text`, one a line, in the form that paths of notes have.

    Raises BadFolder.
    """
    folders = dict.fromkeys(_read_folder(line) for line in text.splitlines() if line.strip())
    if len(folders) > MOST_FOLDERS:
        raise BadFolder(f"{len(folders)} folders are named; {MOST_FOLDERS} are the most.")
    return tuple(folders)


def _read_folder(line: str) -> str:
    folder = unicodedata.normalize("NFC", line.strip()).replace("\\", "/").strip("/")
    parts = folder.split("/")
    if not folder or "\0" in folder or any(part in {"", ".", ".."} for part in parts):
        raise BadFolder(f"“{line.strip()[:80]}” is no folder of the vault: write “Team/Notes”.")
    if len(folder) > LONGEST_FOLDER:
        raise BadFolder(f"“{folder[:80]}…” is longer than {LONGEST_FOLDER} characters.")
    return folder


def _is_under(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)
