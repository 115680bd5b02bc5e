"""What the way through the tables adds to the embedder's own time.

    python benchmarks/embedding.py [--chunks 2000] [--rounds 4] [--each 64]

First the whole job (slices, progress, batches, vectors, vectors of notes, usage) runs with an
embedder that takes no time but counts tokens as the real one does: milliseconds a chunk that
the product adds, by the clock. Then the bundled embedder alone and the job take turns over
equal numbers of other chunks, in processor time, so that a machine that is busy with other
work does not blur the ratio of their rates. Inference is one thread (OMP_NUM_THREADS=1).
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks.ingest import start_django, write_notes  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=2000, help="For what the product adds.")
    parser.add_argument("--rounds", type=int, default=4, help="Turns of embedder and job.")
    parser.add_argument("--each", type=int, default=64, help="Chunks in each turn.")
    options = parser.parse_args()
    start_django()
    notes = max(options.chunks, 2 * options.rounds * options.each) // 3 + 1
    with tempfile.TemporaryDirectory() as folder:
        write_notes(Path(folder), notes)
        measure(Path(folder), options)


def measure(folder: Path, options: argparse.Namespace) -> None:
    from vault.adding import add_vault, place_of
    from vault.models import Chunk, ChunkVector, NoteVector
    from vault.staleness import models_of
    from vault.sync import sync_vault

    vault, _created = add_vault(place_of(folder), slug="benchmark-embedding")
    try:
        sync_vault(vault.pk)
        models = models_of(vault.pk)
        if not models:
            print("no embedding model can be used here")
            return
        added = with_an_instant_embedder(vault.pk)
        print(f"the product adds {added:.2f} ms a chunk")
        ChunkVector.objects.filter(vault=vault).delete()
        NoteVector.objects.filter(vault=vault).delete()
        chunks = list(Chunk.objects.filter(vault=vault).order_by("pk").defer("tsv"))
        turns = take_turns(vault.pk, chunks, options.rounds, options.each)
        alone, whole = (statistics.median(times) for times in zip(*turns, strict=True))
        print(
            f"a chunk: embedder alone {alone * 1000 / options.each:.0f} ms, the job "
            f"{whole * 1000 / options.each:.0f} ms of processor time, ratio {alone / whole:.3f}; "
            f"with what it adds by the clock {alone / (alone + added * options.each / 1000):.3f}"
        )
    finally:
        vault.delete()


class Instant:
    """As the bundled embedder, but its vectors cost nothing."""

    def __init__(self, endpoint: Any, spec: Any) -> None:
        from providers.backends.local_e5 import LocalE5

        self.dimensions, self.max_tokens = spec.dimensions, spec.max_tokens
        self.count_tokens = LocalE5(endpoint, spec).count_tokens

    async def embed_passages(self, texts: Sequence[str]) -> Any:
        import numpy as np

        rows = np.random.default_rng(len(texts)).normal(size=(len(texts), self.dimensions))
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit.astype(np.float32)


def with_an_instant_embedder(vault_id: int) -> float:
    """Milliseconds a chunk of a whole job."""
    from providers.registry import EMBEDDING_BACKENDS, embedder
    from vault.models import ChunkVector
    from vault.staleness import models_of

    model = models_of(vault_id)[0]
    embedder(model).count_tokens("loads the model")
    real = EMBEDDING_BACKENDS[model.provider.kind]
    EMBEDDING_BACKENDS[model.provider.kind] = "benchmarks.embedding.Instant"
    started = time.perf_counter()
    try:
        run_job(vault_id)
    finally:
        EMBEDDING_BACKENDS[model.provider.kind] = real
    seconds = time.perf_counter() - started
    return seconds * 1000 / ChunkVector.objects.filter(vault_id=vault_id).count()


def take_turns(
    vault_id: int, chunks: Sequence[Any], rounds: int, each: int
) -> list[tuple[float, float]]:
    """Seconds of the embedder alone and of the job, for each round, in changing order."""
    from asgiref.sync import async_to_sync

    from providers.registry import embedder
    from vault.models import Chunk
    from vault.staleness import models_of

    backend = embedder(models_of(vault_id)[0])
    async_to_sync(backend.embed_passages)(["loads the model"])
    turns = []
    # What is refused does not wait: the job sees only the chunks of its turn.
    waiting = Chunk.objects.filter(vault_id=vault_id)
    for number in range(rounds):
        part = list(chunks[2 * number * each : 2 * (number + 1) * each])
        part.sort(key=lambda chunk: chunk.tokens)  # both get texts of the same lengths
        bare, stored = part[0::2], part[1::2]
        waiting.update(embed_failed="not its turn", embed_failed_by=space_of(vault_id))
        waiting.filter(pk__in=[c.pk for c in stored]).update(embed_failed="", embed_failed_by="")
        texts = [chunk.vector_text() for chunk in bare]
        alone = partial(async_to_sync(backend.embed_passages), texts)
        whole = partial(run_job, vault_id)
        if number % 2:
            bare_seconds, job_seconds = timed(alone), timed(whole)
        else:
            job_seconds, bare_seconds = timed(whole), timed(alone)
        turns.append((bare_seconds, job_seconds))
    return turns


def space_of(vault_id: int) -> str:
    from vault.staleness import fingerprint, models_of

    return fingerprint(models_of(vault_id)[0])


def run_job(vault_id: int) -> None:
    """The embedding job as the worker runs it, to its end."""
    from vault import jobs, tasks
    from vault.models import Job

    job = tasks.request_embed(vault_id)
    while Job.objects.filter(pk=job.pk, state__in=["queued", "running"]).exists():
        jobs.run(job.pk)
    Job.objects.filter(vault_id=vault_id).delete()


def timed(work: Callable[[], object]) -> float:
    """Seconds of this process's processor time: others who are at work here count for nothing."""
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    main()
