"""Embedding: what is sent to the model, what is stored, and in which order."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from django.db import connection

from providers.models import UsageRecord
from tests.vault.embedder import Scripted, embed, fill
from tests.vault.folders import Folder, make_folder
from vault.embedding import EmbedProgress, GoOn
from vault.locks import Busy, Work, only_one
from vault.models import Chunk, ChunkVector, NoteVector
from vault.staleness import has_pending

pytestmark = pytest.mark.django_db


def test_every_chunk_gets_a_vector_of_unit_length_and_every_note_one(
    folder: Folder, backend: Scripted
) -> None:
    fill(folder, 5)
    progress = embed(folder, backend)
    assert (progress.embedded, progress.failed, progress.left) == (5, 0, 0)
    vectors = np.stack(list(ChunkVector.objects.values_list("vector", flat=True)))
    assert vectors.shape == (5, 64)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(5), abs=2e-3)
    assert NoteVector.objects.count() == 5


def test_nothing_is_sent_twice(folder: Folder, backend: Scripted) -> None:
    fill(folder, 5)
    embed(folder, backend)
    embed(folder, backend)
    assert backend.sent == 5


def test_what_is_sent_starts_with_title_and_headings(folder: Folder, backend: Scripted) -> None:
    folder.write("a.md", "# Apples\n\n## Storage\n\nIn a cool cellar.")
    folder.sync()
    embed(folder, backend)
    text = backend.calls[0][0]
    assert text.startswith("Apples > Storage\n\n")
    assert text.endswith("In a cool cellar.")


def test_equal_texts_are_sent_once(folder: Folder, backend: Scripted) -> None:
    for name in ("a", "b", "c"):
        folder.write(f"{name}.md", "# Same\n\nEqual words.")
    folder.sync()
    embed(folder, backend)
    assert backend.sent == 1
    folder.write("d.md", "# Same\n\nEqual words.")
    folder.sync()
    progress = embed(folder, backend)
    assert (backend.sent, progress.reused) == (1, 1)
    assert ChunkVector.objects.count() == 4


def test_usage_is_recorded_for_every_call(folder: Folder, backend: Scripted) -> None:
    fill(folder, 3)
    embed(folder, backend)
    record = UsageRecord.objects.get()
    assert record.purpose == "embed_passages"
    assert record.input_tokens == sum(backend.count_tokens(text) for text in backend.calls[0])


def test_a_run_ends_with_its_time_and_the_next_goes_on(folder: Folder, backend: Scripted) -> None:
    fill(folder, 30)
    assert embed(folder, backend, most_seconds=0).left == 30

    class OutOfTime(Exception):
        pass

    def stop_after_one(progress: EmbedProgress) -> None:
        raise OutOfTime

    with pytest.raises(OutOfTime):
        embed(folder, backend, on_progress=stop_after_one)
    first = backend.sent
    assert 0 < first < 30
    assert ChunkVector.objects.count() == first
    embed(folder, backend)
    assert backend.sent == 30


def test_batches_are_announced_and_suspects_go_alone(folder: Folder, backend: Scripted) -> None:
    fill(folder, 6)
    suspects = list(Chunk.objects.order_by("pk").values_list("pk", flat=True)[:2])
    announced: list[list[int]] = []
    embed(folder, backend, on_batch=announced.append, go_on=GoOn(suspects=suspects))
    assert announced[:2] == [[suspects[0]], [suspects[1]]]
    assert sum(map(len, announced)) == 6


def test_a_note_vector_is_the_mean_of_its_chunks_and_follows_them(
    folder: Folder, backend: Scripted
) -> None:
    text = "\n\n".join(f"## H{n}\n\n" + f"Words of part {n}. " * 60 for n in range(3))
    folder.write("a.md", text)
    folder.sync()
    embed(folder, backend)

    def expected() -> Any:
        mean = np.mean(list(ChunkVector.objects.values_list("vector", flat=True)), axis=0)
        return mean / np.linalg.norm(mean)

    assert NoteVector.objects.get().vector == pytest.approx(expected(), abs=2e-3)
    folder.write("a.md", text.split("\n\n## H2")[0])
    folder.sync()
    embed(folder, backend)
    assert ChunkVector.objects.count() == 2
    assert NoteVector.objects.get().vector == pytest.approx(expected(), abs=2e-3)


def test_another_vector_of_a_passage_is_another_row(folder: Folder, backend: Scripted) -> None:
    """Who kept the vectors up to an id learns of it by the id."""
    fill(folder, 2)
    embed(folder, backend)
    [first, second] = Chunk.objects.order_by("pk")
    before = dict(ChunkVector.objects.values_list("chunk_id", "pk"))
    Chunk.objects.filter(pk=first.pk).update(content="Other words.", embed_hash="other")
    embed(folder, backend)
    after = dict(ChunkVector.objects.values_list("chunk_id", "pk"))
    assert after[first.pk] > max(before.values())
    assert after[second.pk] == before[second.pk]


def test_two_runs_of_one_vault_cannot_pay_twice(
    folder: Folder, backend: Scripted, transactional_db: None
) -> None:
    fill(folder, 2)
    outcome: list[type[BaseException]] = []

    def other() -> None:
        try:
            embed(folder, backend)
        except Busy as error:
            outcome.append(type(error))
        finally:
            connection.close()

    with only_one(Work.EMBED, folder.vault.pk):
        thread = Thread(target=other)
        thread.start()
        thread.join()
    assert outcome == [Busy]
    assert backend.sent == 0


def test_a_vault_without_a_model_needs_nothing(tmp_path: Path, backend: Scripted) -> None:
    folder = make_folder(tmp_path / "plain")
    fill(folder, 2)
    assert embed(folder, backend) == EmbedProgress()
    assert not has_pending(folder.vault.pk)


def test_a_slice_goes_on_where_the_one_before_ended_and_finds_what_changed_behind_it(
    folder: Folder, backend: Scripted
) -> None:
    fill(folder, 5)
    first = embed(folder, backend, most_seconds=0)
    assert (first.left, first.done) == (5, 0)
    model = folder.vault.embedding_model
    assert model is not None
    third = Chunk.objects.order_by("pk")[2].pk
    seen: list[int] = []
    go_on = GoOn(left=5, after={str(model.pk): third})
    last = embed(folder, backend, go_on=go_on, on_progress=lambda now: seen.append(now.left))
    assert "Note 3" in backend.calls[0][0]
    assert (last.embedded, last.left) == (5, 0)
    assert seen == sorted(seen, reverse=True)
