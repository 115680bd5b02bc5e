"""A folder of notes through the pure part of ingestion: file, note, chunks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import regex
from django.conf import settings

from vault.core.chunking import chunk_note
from vault.core.decoding import decode_note
from vault.core.links import LinkIndex
from vault.core.markdown import parse_markdown
from vault.core.types import ChunkDraft, ChunkLimits, ParsedNote

DATA = Path(__file__).parent / "data"
FIELD_CASES = Path(settings.BASE_DIR).parent / "shared" / "cases"
SEEN = regex.compile(r"[^\s\p{Cf}\p{Cc}]")


class Ingested:
    """The notes of a folder and their chunks, by path."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.notes: dict[str, ParsedNote] = {}
        self.chunks: dict[str, list[ChunkDraft]] = {}
        self.warnings: dict[str, list[str]] = {}
        for path, data in files.items():
            decoded = decode_note(data)
            self.warnings[path] = list(decoded.warnings)
            if decoded.text is None:
                continue
            note = parse_markdown(decoded.text, path=path)
            self.notes[path] = note
            self.warnings[path] += [reason for reason, _line in note.warnings]
            self.chunks[path] = chunk_note(note, limits=ChunkLimits())

    @classmethod
    def case(cls, name: str) -> Ingested:
        folder = next(DATA.glob(f"{name}-*"))
        return cls(
            {
                path.relative_to(folder).as_posix(): path.read_bytes()
                for path in sorted(folder.rglob("*.md"))
            }
        )

    def holding(self, word: str) -> ChunkDraft:
        """The first chunk whose content has a word."""
        found = [
            chunk for chunks in self.chunks.values() for chunk in chunks if word in chunk.content
        ]
        assert found, f"{word} is in no chunk"
        return found[0]

    def path_of(self, word: str) -> list[str]:
        return list(self.holding(word).heading_path)

    def headings(self, path: str) -> list[tuple[int, str]]:
        return [(heading.level, heading.text) for heading in self.notes[path].headings]

    def targets(self, path: str) -> list[str]:
        return [link.target for link in self.notes[path].links]

    def index(self) -> LinkIndex:
        return LinkIndex({path: note.aliases for path, note in self.notes.items()})


def field_files() -> Iterator[Path]:
    """Every vault file of the collection of cases beside the project, where there is one."""
    yield from sorted(DATA.rglob("*.md"))
    if FIELD_CASES.is_dir():
        yield from sorted(FIELD_CASES.glob("*/vault/**/*.md"))
