"""The worker command: nothing is lost or done twice, whichever process is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from django.db.models import Max, Sum

from providers.models import EmbeddingModel, Provider, UsageRecord
from tests.vault.folders import Folder, make_folder
from tests.vault.processes import (
    RunningWorker,
    cpu_ticks,
    is_running,
    running_worker,
    wait_until,
)
from vault.models import Chunk, ChunkVector, Job, NoteVector
from vault.staleness import pending_chunks
from vault.tasks import request_embed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.django_db(transaction=True),
]

NOTES = 150


def make_model(name: str = "hash delay=20ms") -> EmbeddingModel:
    provider = Provider.objects.create(slug="fake", name="Fake", kind="fake", needs_key=False)
    return EmbeddingModel.objects.create(provider=provider, name=name, dimensions=64)


def fill(root: Path, model: EmbeddingModel, notes: int = NOTES) -> Folder:
    """A vault of one-chunk notes, read and waiting to be embedded."""
    folder = make_folder(root, embedding_model=model)
    for number in range(notes):
        folder.write(f"{number}.md", f"# Note {number}\n\nIt tells of subject{number} and more.")
    folder.sync()
    assert Chunk.objects.count() == notes
    return folder


def embedded() -> int:
    return ChunkVector.objects.count()


def has_embedded(more_than: int) -> bool:
    return embedded() > more_than


def workers(worker: RunningWorker) -> list[int]:
    return worker.guarded()[:-2]


# In this order: a process that is started again comes last among the guard's, so after the
# idle worker their places tell nothing until a new guard starts all of them.
VICTIMS: dict[str, Callable[[RunningWorker], list[int]]] = {
    "the monitor and the pusher": lambda worker: worker.guarded()[-2:],
    "the idle worker": lambda worker: [min(workers(worker), key=cpu_ticks)],
    "the guard": lambda worker: [worker.guard or 0],
    "every worker": workers,
}


def test_work_goes_on_whichever_process_is_killed(tmp_path: Path) -> None:
    """One kill after the other, each while notes still wait; nothing is lost by any of them."""
    model = make_model()
    folder = fill(tmp_path / "notes", model, notes=2 * NOTES)
    request_embed(folder.vault.pk)
    ends = 0
    with running_worker("--no-watch", WORKER_STOP="1") as worker:
        for number, (victim, choose) in enumerate(VICTIMS.items()):
            least = NOTES // 10 + number * 2 * NOTES // len(VICTIMS)
            wait_until(partial(has_embedded, least), f"{least} vectors before killing {victim}")
            wait_until(lambda: len(worker.guarded()) == 4, "four processes under the guard")
            assert embedded() < 2 * NOTES, f"nothing is left to do after killing {victim}"
            before = worker.restarts
            for pid in choose(worker):
                os.kill(pid, signal.SIGKILL)
            after = least + NOTES // 10
            wait_until(partial(has_embedded, after), f"work goes on after killing {victim}")
            ends += max(1, worker.restarts - before)
        before = worker.restarts
        wait_until(partial(has_embedded, 2 * NOTES - 1), "every chunk has its vector")
        wait_until(lambda: not Job.objects.open().exists(), "no job is left open")
        started = worker.everybody()
        ends += worker.restarts - before
    assert not pending_chunks(folder.vault.pk, model).exists()
    assert embedded() == 2 * NOTES
    assert ChunkVector.objects.values("chunk").distinct().count() == 2 * NOTES
    assert NoteVector.objects.count() == 2 * NOTES
    assert_paid_once_but_for_a_batch(each_of=ends)
    assert [pid for pid in started if is_running(pid)] == []


def assert_paid_once_but_for_a_batch(*, each_of: int = 1) -> None:
    """Of what was sent to the model, at most one batch was sent twice: at each of the ends
    of a queue, where there were several."""
    calls = UsageRecord.objects.filter(purpose="embed_passages")
    paid = calls.aggregate(tokens=Sum("input_tokens"), largest=Max("input_tokens"))
    once = tokens_of_every_chunk()
    assert once <= paid["tokens"] <= once + each_of * paid["largest"]


def tokens_of_every_chunk() -> int:
    from providers.testing import HashEmbedder
    from vault.core.chunking import embedded_text

    count = HashEmbedder().count_tokens
    return sum(
        count(embedded_text(chunk.heading_path, chunk.context, chunk.content))
        for chunk in Chunk.objects.all()
    )


def test_a_killed_worker_command_takes_all_along_and_a_new_one_goes_on(tmp_path: Path) -> None:
    folder = fill(tmp_path / "notes", make_model())
    request_embed(folder.vault.pk)
    with running_worker("--no-watch") as first:
        wait_until(lambda: embedded() > NOTES // 10, "the first batches")
        wait_until(lambda: len(first.guarded()) == 4, "four processes under the guard")
        started = first.everybody()
        first.process.kill()
        wait_until(lambda: not any(map(is_running, started)), "none outlives it")
        restarts = first.restarts
    with running_worker("--no-watch") as second:
        wait_until(lambda: embedded() == NOTES, "every chunk has its vector")
        restarts += second.restarts
    assert_paid_once_but_for_a_batch(each_of=1 + restarts)


def test_a_stopped_worker_leaves_no_process_and_no_half_done_job(tmp_path: Path) -> None:
    folder = fill(tmp_path / "notes", make_model())
    request_embed(folder.vault.pk)
    with running_worker("--no-watch", WORKER_STOP="300") as worker:
        wait_until(lambda: embedded() > 10, "the first batches")
        wait_until(lambda: len(worker.guarded()) == 4, "four processes under the guard")
        started = worker.everybody()
        worker.process.send_signal(signal.SIGTERM)
        assert worker.process.wait(timeout=330) == 0
    assert not any(map(is_running, started))
    assert not Job.objects.at_work().exists()


def test_a_chunk_that_kills_its_worker_is_found_out_and_the_others_go_on(tmp_path: Path) -> None:
    folder = fill(tmp_path / "notes", make_model("hash delay=1ms kills=subject7"), notes=60)
    request_embed(folder.vault.pk)
    with running_worker("--no-watch"):
        wait_until(lambda: embedded() == 59, "all but one have a vector")
        wait_until(lambda: not Job.objects.open().exists(), "no job is left open")
    failed = Chunk.objects.exclude(embed_failed="").get()
    assert failed.note.path == "7.md"
    assert "died" in failed.embed_failed


def test_a_saved_file_is_found_without_anybody_asking(tmp_path: Path) -> None:
    folder = fill(tmp_path / "notes", make_model("hash"), notes=2)
    with running_worker(SCAN_INTERVAL="3600"):
        wait_until(lambda: embedded() == 2, "the first scan embeds what is there")
        # The watch starts with the worker's next look at its vaults; a file that comes
        # before it is found by the watch's own next event.
        number = iter(range(1000))

        def is_found() -> bool:
            folder.write(f"new {next(number)}.md", "A note about zelmira.")
            return bool(folder.found("zelmira"))

        wait_until(is_found, "the new note is found")
