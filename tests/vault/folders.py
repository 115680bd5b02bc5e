"""A folder of notes on disk that tests write, and a vault that reads it."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.cast import make_user, make_vault
from vault.models import Chunk, Note, SyncRun, Vault
from vault.sync import sync_vault

_clock = itertools.count(1_700_000_000)
_numbers = itertools.count(1)


@dataclass
class Folder:
    """`write`, `move` and `delete` files; `sync` reads them. Every write has its own time."""

    root: Path
    vault: Vault

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        moment = next(_clock)
        os.utime(file, (moment, moment))
        return file

    def move(self, old: str, new: str) -> None:
        target = self.root / new
        target.parent.mkdir(parents=True, exist_ok=True)
        (self.root / old).rename(target)

    def delete(self, path: str) -> None:
        (self.root / path).unlink()

    def sync(self, *, full: bool = False) -> SyncRun:
        return sync_vault(self.vault.pk, full=full)

    def note(self, path: str) -> Note:
        return Note.objects.get(vault=self.vault, path=path)

    def paths(self) -> list[str]:
        indexed = Note.objects.filter(vault=self.vault, status=Note.Status.INDEXED)
        return sorted(indexed.values_list("path", flat=True))

    def chunks(self, path: str) -> list[Chunk]:
        return list(Chunk.objects.filter(note=self.note(path)).order_by("ordinal"))

    def found(self, word: str) -> list[str]:
        """Paths of the notes in which keyword search finds a plain word."""
        chunks = Chunk.objects.extra(
            where=["tsv @@ plainto_tsquery(text_config, %s)"], params=[word]
        ).filter(vault=self.vault)
        return sorted(set(chunks.values_list("note__path", flat=True)))


def make_folder(root: Path, **fields: object) -> Folder:
    """An empty folder with a vault of its own."""
    root.mkdir(parents=True, exist_ok=True)
    number = next(_numbers)
    owner = make_user(f"keeper{number}")
    return Folder(root, make_vault(f"notes-{number}", owner=owner, place=str(root), **fields))


@contextmanager
def as_nobody() -> Iterator[None]:
    """Without root's right to read everything."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(was)


def open_way(path: Path) -> None:
    """Let everybody pass through the folders above."""
    for parent in path.parents:
        if str(parent).count("/") >= 2:
            parent.chmod(0o755)


def paragraphs(*words: str) -> str:
    """A note of one section a word, each long enough to be a chunk of its own."""
    return "\n\n".join(f"## {word}\n\n" + f"The {word} is explained here. " * 40 for word in words)


def snapshot(vault: Vault) -> dict[str, object]:
    """All that was derived from a vault's files, without ids and times: for comparison."""
    result: dict[str, object] = {}
    for note in Note.objects.filter(vault=vault):
        result[note.path] = {
            "title": note.title,
            "body": note.body,
            "status": note.status,
            "tags": note.tags,
            "keys": note.lookup_keys,
            "hash": (note.content_hash, note.indexed_hash),
            "chunks": list(
                note.chunks.order_by("ordinal").values_list(
                    "ordinal", "content", "heading_path", "start", "end", "embed_hash", "tsv"
                )
            ),
            "links": sorted(
                note.links.values_list("raw_target", "start", "target__path"),
                key=lambda row: (row[1], row[0]),
            ),
        }
    return result
