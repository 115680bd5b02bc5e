"""How fast a vault is read and embedded, against the least that it could cost.

    python benchmarks/ingest.py [--notes 200] [--embed 16]

Makes a folder of notes, reads it into a vault of its own and removes both again. Prints:
the rate of a first import without embedding, with counts, warnings and the most memory that
the process ever held; an unchanged rescan against reading and hashing every file once; and
embedding (0: not measured) through the tables against the embedder alone.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "secondbrain.settings")
os.environ.setdefault("LOG_LEVEL", "ERROR")
os.environ["QUIET_SECONDS"] = "0"

WORDS = (  # noqa: SIM905 (as a list it fills a screen)
    "budget cellar harbour engine meadow signal winter ledger bridge copper lantern orchard "
    "paper river salt timber valley window yarn zinc answer between carry during every"
).split()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=200)
    parser.add_argument("--embed", type=int, default=16, help="Chunks to embed.")
    options = parser.parse_args()
    start_django()
    with tempfile.TemporaryDirectory() as folder:
        write_notes(Path(folder), options.notes)
        measure(Path(folder), options.notes, options.embed)


def start_django() -> None:
    from secondbrain.embedded import ensure_database

    ensure_database()
    import django

    django.setup()
    from providers.presets import load_presets

    load_presets()


def write_notes(folder: Path, count: int) -> None:
    """Notes of about 2 kB with headings and links, the same each time."""
    dice = random.Random(7)
    for number in range(count):
        parts = [f"# Note {number}\n\nSee [[note {dice.randrange(count)}]].\n"]
        for heading in range(3):
            text = " ".join(dice.choices(WORDS, k=100))
            parts.append(f"## Part {heading}\n\n{text}.\n")
        path = folder / f"{number % 20}" / f"note {number}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(parts))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = work()
    return time.perf_counter() - started, result


def measure(folder: Path, notes: int, embed: int) -> None:
    from vault.adding import add_vault, place_of
    from vault.models import Chunk
    from vault.sync import sync_vault

    vault, _created = add_vault(place_of(folder), slug="benchmark-ingest")
    try:
        seconds, run = timed(lambda: sync_vault(vault.pk))
        counts = run.counts
        print(
            f"first import: {notes / seconds:.0f} notes/s, {seconds:.1f} s, {counts['chunks']} "
            f"chunks, {counts['links']} links, {counts['warnings']} warnings, {peak_mb()} MB"
        )
        rescan, _run = timed(lambda: sync_vault(vault.pk))
        least, _count = timed(lambda: hash_all(folder))
        print(f"unchanged rescan: {rescan:.3f} s, {rescan / least:.2f} x reading and hashing")
        if not embed:
            return
        Chunk.objects.filter(
            pk__in=Chunk.objects.filter(vault=vault).order_by("pk").values("pk")[embed:]
        ).delete()
        compare_embedding(vault.pk, embed)
    finally:
        vault.delete()


def peak_mb() -> int:
    """The most memory that this process held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def hash_all(folder: Path) -> int:
    return len([sha256(path.read_bytes()).digest() for path in folder.rglob("*.md")])


def compare_embedding(vault_id: int, embed: int) -> None:
    """Chunks a second through embed_pending, and of the embedder with the same texts."""
    from asgiref.sync import async_to_sync

    from providers.registry import embedder
    from vault.core.chunking import embedded_text
    from vault.embedding import embed_pending
    from vault.models import Chunk
    from vault.staleness import models_of

    models = models_of(vault_id)
    if not models:
        print("embedding: no embedding model can be used here")
        return
    backend = embedder(models[0])
    texts = [
        embedded_text(chunk.heading_path, chunk.context, chunk.content)
        for chunk in Chunk.objects.filter(vault_id=vault_id)
    ]
    async_to_sync(backend.embed_passages)(texts[:2])  # loads the model
    alone, _vectors = timed(lambda: async_to_sync(backend.embed_passages)(texts))
    whole, progress = timed(lambda: embed_pending(vault_id, most_seconds=600))
    print(
        f"embedding: {progress.embedded / whole:.1f} chunks/s, embedder alone "
        f"{len(texts) / alone:.1f}, ratio {alone / whole:.2f}"
    )


if __name__ == "__main__":
    main()
