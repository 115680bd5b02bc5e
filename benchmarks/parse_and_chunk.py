"""How fast notes are parsed and chunked, beside reading and hashing the same files.

    python benchmarks/parse_and_chunk.py [--notes 500] [--words 400]

The notes are made up from a fixed seed: prose, lists, code, tables, links and tags in the
proportions of a working vault. Times are of this process alone (CPU seconds).
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from vault.core.chunking import chunk_note
from vault.core.decoding import decode_note
from vault.core.language import text_config
from vault.core.lexical import made_tokens
from vault.core.markdown import parse_markdown
from vault.core.types import ChunkLimits

LETTERS = "etaoinshrdlucmfwypvbgkjqxz"


def made_note(number: int, words: int) -> str:
    """A note of about so many words, the same for the same number."""
    pick = random.Random(number)
    vocabulary = ["".join(pick.choices(LETTERS, k=pick.randint(2, 9))) for _ in range(300)]

    def sentence() -> str:
        return " ".join(pick.choices(vocabulary, k=pick.randint(6, 18))).capitalize() + "."

    def block() -> str:
        kind = pick.random()
        if kind < 0.6:
            return " ".join(sentence() for _ in range(pick.randint(2, 6)))
        if kind < 0.75:
            return "\n".join(f"- {sentence()}" for _ in range(pick.randint(2, 6)))
        if kind < 0.85:
            return "```python\n# " + "\n".join(sentence() for _ in range(4)) + "\n```"
        if kind < 0.92:
            rows = "\n".join(f"| {pick.random():.3f} | [[Note {n}\\|n]] |" for n in range(6))
            return f"| Value | Note |\n|---|---|\n{rows}"
        return f"> [!note] {sentence()}\n> See [[Note {pick.randint(0, 999)}]] and #tag{number}."

    parts = [f"---\ntags: [one, two]\naliases: Alias {number}\n---", f"# Note {number}"]
    while sum(len(part.split()) for part in parts) < words:
        parts += [f"## {sentence()}", block(), block()]
    return "\n\n".join(parts) + "\n"


def timed(work: Callable[[bytes, str], int], files: list[Path]) -> tuple[float, int]:
    """CPU seconds for all the files, and the sum of what the work counts."""
    began = time.process_time()
    total = sum(work(path.read_bytes(), path.name) for path in files)
    return time.process_time() - began, total


def hashed(data: bytes, _path: str) -> int:
    return len(hashlib.sha256(data).digest()) and 1


def parsed(data: bytes, path: str) -> int:
    return len(parse_markdown(decode_note(data).text or "", path=path).blocks)


def chunked(data: bytes, path: str) -> int:
    note = parse_markdown(decode_note(data).text or "", path=path)
    return len(chunk_note(note, limits=ChunkLimits()))


def prepared(data: bytes, path: str) -> int:
    note = parse_markdown(decode_note(data).text or "", path=path)
    chunks = chunk_note(note, limits=ChunkLimits())
    return sum(
        bool(made_tokens(chunk.content)) + bool(text_config(chunk.content)) for chunk in chunks
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--notes", type=int, default=500)
    parser.add_argument("--words", type=int, default=400)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"note {number}.md" for number in range(options.notes)]
        for number, path in enumerate(files):
            path.write_text(made_note(number, options.words), encoding="utf-8")
        size = sum(path.stat().st_size for path in files) / 1e6
        print(f"{options.notes} notes, {size:.1f} MB")
        base, _ = timed(hashed, files)
        for name, work in {
            "read + sha256": hashed,
            "parse": parsed,
            "parse + chunk": chunked,
            "parse + chunk + search words": prepared,
        }.items():
            seconds, total = timed(work, files)
            rate = options.notes / seconds
            print(
                f"{name:30} {rate:9.0f} notes/s  {size / seconds:7.1f} MB/s"
                f"  {seconds / base:7.1f} x reading + sha256  ({total})"
            )


if __name__ == "__main__":
    main()
