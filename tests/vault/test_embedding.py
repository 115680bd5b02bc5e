"""Embedding: what is sent to the model, what is stored, and what happens to what it refuses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from django.db import connection

from providers.core.errors import BadRequest, InputTooLong, NotConfigured, RateLimited
from providers.core.protocols import Vectors
from providers.models import EmbeddingModel, Provider, UsageRecord
from providers.testing import HashEmbedder
from tests.vault.folders import Folder, make_folder
from vault import embedding
from vault.embedding import EmbedProgress, GoOn, embed_pending
from vault.locks import Busy, Work, only_one
from vault.models import Chunk, ChunkVector, Note, NoteVector, Vault
from vault.refusals import mark_failed, retry_failed
from vault.staleness import has_pending, pending_chunks

pytestmark = pytest.mark.django_db


class Scripted(HashEmbedder):
    """As HashEmbedder, with faults: `fault(texts)` may raise, or return vectors to spoil."""

    def __init__(self, dimensions: int = 64) -> None:
        super().__init__(dimensions=dimensions)
        self.calls: list[list[str]] = []
        self.fault: Callable[[Sequence[str], Vectors], Vectors] = lambda texts, vectors: vectors

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        return self.fault(texts, await super().embed_passages(texts))

    @property
    def sent(self) -> int:
        return sum(map(len, self.calls))


def make_model(name: str = "one", dimensions: int = 64, **fields: Any) -> EmbeddingModel:
    provider, _made = Provider.objects.get_or_create(
        slug="fake", defaults={"name": "Fake", "kind": "fake", "needs_key": False}
    )
    return EmbeddingModel.objects.create(
        provider=provider, name=name, dimensions=dimensions, **fields
    )


@pytest.fixture
def model() -> EmbeddingModel:
    return make_model()


@pytest.fixture
def folder(tmp_path: Path, model: EmbeddingModel) -> Folder:
    return make_folder(tmp_path / "notes", embedding_model=model)


@pytest.fixture
def backend() -> Scripted:
    return Scripted()


def fill(folder: Folder, count: int) -> None:
    for number in range(count):
        folder.write(f"{number:03}.md", f"# Note {number}\n\nAbout subject{number}.")
    folder.sync()


def embed(folder: Folder, backend: Scripted, **options: Any) -> EmbedProgress:
    options.setdefault("most_seconds", 60)
    return embed_pending(folder.vault.pk, backend_of=lambda model: backend, **options)


def failures() -> dict[str, str]:
    failed = Chunk.objects.exclude(embed_failed="")
    return dict(failed.values_list("note__path", "embed_failed"))


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


def test_an_edit_embeds_one_chunk_and_a_move_none(folder: Folder, backend: Scripted) -> None:
    text = "# T\n\n" + "\n\n".join(f"## H{n}\n\n" + f"Words of part {n}. " * 60 for n in range(4))
    folder.write("a.md", text)
    folder.sync()
    embed(folder, backend)
    before = backend.sent
    folder.write("a.md", text.replace("part 2", "piece 2"))
    folder.sync()
    embed(folder, backend)
    assert backend.sent == before + 1
    folder.move("a.md", "sub/a.md")
    folder.sync()
    embed(folder, backend)
    assert backend.sent == before + 1


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


def test_a_note_that_changes_or_goes_while_it_is_embedded_gets_no_wrong_vector(
    folder: Folder, backend: Scripted
) -> None:
    fill(folder, 3)

    def meanwhile(texts: Sequence[str], vectors: Vectors) -> Vectors:
        backend.fault = lambda texts, vectors: vectors
        edits.append(True)
        return vectors

    edits: list[bool] = []
    backend.fault = meanwhile

    def edit(chunk_ids: list[int]) -> None:
        if not edits:
            folder.write("000.md", "# Note 0\n\nAnother text.")
            folder.delete("001.md")
            folder.sync()

    embed(folder, backend, on_batch=edit)
    assert not Note.objects.filter(path="001.md").exists()
    current = ChunkVector.objects.values_list("embed_hash", flat=True)
    assert sorted(current) == sorted(Chunk.objects.values_list("embed_hash", flat=True))
    assert backend.sent == 4, "the text that was rewritten meanwhile is sent once more"


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


class TestChangeOfModel:
    """Vectors of two models live side by side; vectors of two makes never under one."""

    def embed_with(self, folder: Folder, backends: dict[str, Scripted], **options: Any) -> None:
        options.setdefault("most_seconds", 60)
        embed_pending(folder.vault.pk, backend_of=lambda model: backends[model.name], **options)
        folder.vault.refresh_from_db()

    def test_what_the_old_model_refused_is_tried_with_the_new_one(self, folder: Folder) -> None:
        fill(folder, 1)
        old, new = folder.vault.embedding_model, make_model("two")
        assert old is not None
        mark_failed([Chunk.objects.get().pk], old, "too long for the old one")
        Vault.objects.filter(pk=folder.vault.pk).update(next_embedding_model=new)
        self.embed_with(folder, {"one": Scripted(), "two": Scripted()})
        assert ChunkVector.objects.get().embedding_model == new

    def test_another_prefix_makes_every_vector_stale(
        self, folder: Folder, model: EmbeddingModel
    ) -> None:
        fill(folder, 3)
        backends = {"one": Scripted()}
        self.embed_with(folder, backends)
        model.passage_prefix = "passage: "
        model.save()
        assert pending_chunks(folder.vault.pk, model).count() == 3
        self.embed_with(folder, backends)
        assert backends["one"].sent == 6
        assert ChunkVector.objects.count() == NoteVector.objects.count() == 3

    def test_another_length_under_the_same_row_leaves_no_vector_of_the_old_one(
        self, folder: Folder, model: EmbeddingModel
    ) -> None:
        fill(folder, 3)
        self.embed_with(folder, {"one": Scripted()})
        model.dimensions = 32
        model.save()
        self.embed_with(folder, {"one": Scripted(32)})
        lengths = {len(vector) for vector in ChunkVector.objects.values_list("vector", flat=True)}
        assert lengths == {32}


def test_a_vault_without_a_model_needs_nothing(tmp_path: Path, backend: Scripted) -> None:
    folder = make_folder(tmp_path / "plain")
    fill(folder, 2)
    assert embed(folder, backend) == EmbedProgress()
    assert not has_pending(folder.vault.pk)


def test_a_note_that_embeds_a_block_is_sent_with_it_and_again_when_the_block_changes(
    folder: Folder, backend: Scripted
) -> None:
    folder.write("pump.md", "quorvex ^b1")
    folder.write("a.md", "Own.\n\n![[pump#^b1]]")
    folder.sync()
    embed(folder, backend)
    assert "a\n\nOwn.\n\n![[pump#^b1]]\n\nquorvex" in backend.calls[0]
    folder.write("pump.md", "zelmira ^b1")
    folder.sync()
    embed(folder, backend)
    assert "a\n\nOwn.\n\n![[pump#^b1]]\n\nzelmira" in backend.calls[-1]


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


def long_note(sections: int = 10, paragraphs: int = 5) -> str:
    """A note of about fifty chunks: in each section, paragraphs of one chunk each."""
    parts = ["# Long"]
    for section in range(sections):
        parts.append(f"## Section {section}")
        for number in range(paragraphs):
            words = " ".join(f"w{section}x{number}x{word}" for word in range(60))
            parts.append(f"Paragraph {section}.{number} begins. {words}.")
    return "\n\n".join(parts)


def test_an_edited_paragraph_of_a_long_note_embeds_one_chunk_or_two(
    folder: Folder, backend: Scripted
) -> None:
    text = long_note()
    folder.write("long.md", text)
    folder.sync()
    embed(folder, backend)
    chunks = Chunk.objects.count()
    assert backend.sent == chunks
    assert chunks >= 50
    folder.write("long.md", text.replace("Paragraph 4.2 begins", "Paragraph 4.2 ends"))
    folder.sync()
    embed(folder, backend)
    assert 1 <= backend.sent - chunks <= 2
    assert Chunk.objects.count() == chunks


def test_another_heading_embeds_its_section_alone(folder: Folder, backend: Scripted) -> None:
    text = long_note()
    folder.write("long.md", text)
    folder.sync()
    embed(folder, backend)
    before = backend.sent
    folder.write("long.md", text.replace("## Section 4", "## Renamed"))
    folder.sync()
    embed(folder, backend)
    sent = [chunk for call in backend.calls for chunk in call][before:]
    assert sent
    assert all(chunk.startswith("Long > Renamed\n") for chunk in sent)
    renamed = Chunk.objects.filter(heading_path__contains=["Renamed"]).count()
    assert len(sent) == renamed < before


def test_another_model_embeds_everything(folder: Folder, backend: Scripted) -> None:
    folder.write("long.md", long_note())
    folder.sync()
    embed(folder, backend)
    before = backend.sent
    Vault.objects.filter(pk=folder.vault.pk).update(embedding_model=make_model("two"))
    embed(folder, backend)
    assert backend.sent == before * 2
