"""What a model refuses or spoils, and what is its fault and not that of the chunks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from providers.core.errors import BadRequest, InputTooLong, NotConfigured, RateLimited
from providers.core.protocols import Vectors
from providers.models import EmbeddingModel, UsageRecord
from tests.vault.embedder import Scripted, embed, failures, fill, make_model
from tests.vault.folders import Folder
from vault import embedding
from vault.embedding import embed_pending
from vault.models import Chunk, ChunkVector, NoteVector, Vault
from vault.refusals import mark_failed, retry_failed
from vault.staleness import pending_chunks

pytestmark = pytest.mark.django_db


def test_a_text_that_is_too_long_is_isolated_and_the_others_are_stored(
    folder: Folder, backend: Scripted
) -> None:
    fill(folder, 8)

    def refuse(texts: Sequence[str], vectors: Vectors) -> Vectors:
        if any("subject5" in text for text in texts):
            raise InputTooLong("600 of 512 tokens")
        return vectors

    backend.fault = refuse
    progress = embed(folder, backend)
    assert (progress.embedded, progress.failed, progress.left) == (7, 1, 0)
    assert failures() == {"005.md": "600 of 512 tokens"}
    assert UsageRecord.objects.filter(failed_with="input_too_long").exists()
    calls = len(backend.calls)
    embed(folder, backend)
    assert len(backend.calls) == calls, "what was refused is not sent again by itself"


def test_what_was_refused_is_tried_again_on_demand_and_after_an_edit(
    folder: Folder, backend: Scripted
) -> None:
    fill(folder, 2)
    model = EmbeddingModel.objects.get()
    mark_failed(list(Chunk.objects.values_list("pk", flat=True)), model, "refused")
    embed(folder, backend)
    assert backend.sent == 0
    folder.write("000.md", "# Note 0\n\nRewritten.")
    folder.sync()
    embed(folder, backend)
    assert backend.sent == 1
    assert retry_failed(folder.vault.pk) == 1
    embed(folder, backend)
    assert backend.sent == 2


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda vector: vector * math.nan, "not finite"),
        (lambda vector: vector * math.inf, "not finite"),
        (lambda vector: vector * 0, "zeros"),
    ],
)
def test_a_vector_that_is_none_is_refused_and_its_neighbours_are_stored(
    folder: Folder, backend: Scripted, spoil: Callable[[Any], Any], reason: str
) -> None:
    fill(folder, 4)

    def spoiled(texts: Sequence[str], vectors: Vectors) -> Vectors:
        for row, text in enumerate(texts):
            if "subject2" in text:
                with np.errstate(invalid="ignore"):
                    vectors[row] = spoil(vectors[row])
        return vectors

    backend.fault = spoiled
    embed(folder, backend)
    assert ChunkVector.objects.count() == 3
    assert reason in failures()["002.md"]


@pytest.mark.parametrize(
    "spoil", [lambda vectors: vectors[:-1], lambda vectors: vectors[:, :-1]], ids=["few", "short"]
)
def test_too_few_or_too_short_vectors_are_refused_with_a_reason(
    folder: Folder, backend: Scripted, spoil: Callable[[Vectors], Vectors]
) -> None:
    fill(folder, 2)
    backend.fault = lambda texts, vectors: spoil(vectors)
    progress = embed(folder, backend)
    assert progress.failed == 2
    assert not ChunkVector.objects.exists()
    assert all("instead of" in reason for reason in failures().values())


def test_a_model_that_refuses_everything_is_not_asked_for_ever(
    folder: Folder, backend: Scripted
) -> None:
    fill(folder, 40)

    def refuse(texts: Sequence[str], vectors: Vectors) -> Vectors:
        raise BadRequest("no such dimension")

    backend.fault = refuse
    with pytest.raises(BadRequest):
        embed(folder, backend)
    assert len(failures()) == embedding.REFUSALS_IN_A_ROW


@pytest.mark.parametrize(
    "error", [RateLimited("slow down", retry_after=7), NotConfigured("no key")]
)
def test_trouble_of_the_model_is_no_fault_of_the_chunks(
    folder: Folder, backend: Scripted, error: Exception
) -> None:
    fill(folder, 3)

    def fail(texts: Sequence[str], vectors: Vectors) -> Vectors:
        raise error

    backend.fault = fail
    with pytest.raises(type(error)):
        embed(folder, backend)
    assert failures() == {}
    backend.fault = lambda texts, vectors: vectors
    assert embed(folder, backend).embedded == 3


def test_what_two_models_refuse_is_asked_of_each_once(folder: Folder, backend: Scripted) -> None:
    fill(folder, 2)
    one, two = folder.vault.embedding_model, make_model("two")
    assert one is not None
    chunk = Chunk.objects.order_by("pk")[0]
    mark_failed([chunk.pk], one, "refused by the first")
    mark_failed([chunk.pk], two, "refused by the second")
    mark_failed([chunk.pk], two, "and again")
    waiting = [pending_chunks(folder.vault.pk, model).count() for model in (one, two)]
    assert waiting == [1, 1]
    chunk.refresh_from_db()
    assert (chunk.embed_failed, chunk.embed_attempts) == ("and again", 3)


def test_trouble_with_one_model_keeps_none_from_the_other(folder: Folder) -> None:
    fill(folder, 3)
    backends = {"one": Scripted(), "two": Scripted()}
    Vault.objects.filter(pk=folder.vault.pk).update(next_embedding_model=make_model("two"))

    def away(texts: Sequence[str], vectors: Vectors) -> Vectors:
        raise RateLimited("not now")

    backends["one"].fault = away
    with pytest.raises(RateLimited):
        embed_pending(
            folder.vault.pk, most_seconds=60, backend_of=lambda model: backends[model.name]
        )
    assert ChunkVector.objects.filter(embedding_model__name="two").count() == 3


def test_a_note_with_a_refused_chunk_is_as_near_as_the_rest_of_it(
    folder: Folder, backend: Scripted
) -> None:
    text = "\n\n".join(f"## H{n}\n\n" + f"Words of part{n}. " * 60 for n in range(3))
    folder.write("a.md", text)
    folder.sync()

    def refuse(texts: Sequence[str], vectors: Vectors) -> Vectors:
        if any("part1" in text for text in texts):
            raise InputTooLong("too long")
        return vectors

    backend.fault = refuse
    embed(folder, backend)
    mean = np.mean(list(ChunkVector.objects.values_list("vector", flat=True)), axis=0)
    assert NoteVector.objects.get().vector == pytest.approx(mean / np.linalg.norm(mean), abs=2e-3)
