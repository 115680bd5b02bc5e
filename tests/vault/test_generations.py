"""The change of a vault's embedding model: who serves, when, and what is kept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from providers.core.errors import InputTooLong
from providers.core.protocols import Vectors
from providers.models import EmbeddingModel
from tests.vault.embedder import Scripted, fill, make_model
from tests.vault.folders import Folder, make_folder
from tests.vault.test_tasks import do_everything
from vault import generations, index_tasks, tasks
from vault.embedding import embed_pending
from vault.generations import SwitchRefused, begin_switch, finish_switch, generation
from vault.models import Chunk, ChunkVector, Job, NoteVector, Upkeep, Vault

pytestmark = pytest.mark.django_db


@pytest.fixture
def old() -> EmbeddingModel:
    return make_model("one")


@pytest.fixture
def new() -> EmbeddingModel:
    return make_model("two", dimensions=32)


@pytest.fixture
def folder(tmp_path: Path, old: EmbeddingModel) -> Folder:
    """Three notes, searchable by meaning under the old model."""
    folder = make_folder(tmp_path / "notes", embedding_model=old)
    fill(folder, 3)
    embed(folder)
    return folder


def embed(folder: Folder, *, seconds: float = 60, **backends: Scripted) -> int:
    """Embed what waits; returns how many were embedded."""
    known = {"one": Scripted(), "two": Scripted(32), "three": Scripted(16)} | backends
    done = embed_pending(
        folder.vault.pk, most_seconds=seconds, backend_of=lambda model: known[model.name]
    )
    return done.embedded


def serving(folder: Folder) -> EmbeddingModel | None:
    folder.vault.refresh_from_db()
    return folder.vault.embedding_model


def count(model: EmbeddingModel) -> tuple[int, int]:
    """(vectors of chunks, vectors of notes) under a model."""
    return (
        ChunkVector.objects.filter(embedding_model=model).count(),
        NoteVector.objects.filter(embedding_model=model).count(),
    )


def clean_up(folder: Folder) -> None:
    while generations.drop_orphans(folder.vault.pk, most_seconds=5)[0]:
        pass


def test_the_old_model_serves_until_the_next_has_everything(
    folder: Folder, old: EmbeddingModel, new: EmbeddingModel
) -> None:
    begin_switch(folder.vault.pk, new)
    assert not finish_switch(folder.vault.pk)
    assert serving(folder) == old
    ChunkVector.objects.filter(pk__in=ChunkVector.objects.values("pk")[:1]).delete()
    assert embed(folder) == 4, "what the old one lacks is made as well"
    assert serving(folder) == old, "embedding alone changes nothing"
    assert finish_switch(folder.vault.pk)
    assert serving(folder) == new
    assert folder.vault.next_embedding_model is None
    assert count(old) == count(new) == (3, 3)
    assert not finish_switch(folder.vault.pk)


def test_a_note_stored_meanwhile_puts_the_change_off(
    folder: Folder, old: EmbeddingModel, new: EmbeddingModel
) -> None:
    begin_switch(folder.vault.pk, new)
    embed(folder)
    folder.write("late.md", "# Late\n\nSaved at the last moment.")
    folder.sync()
    assert not finish_switch(folder.vault.pk)
    assert serving(folder) == old
    embed(folder)
    assert finish_switch(folder.vault.pk)


def test_how_far_a_generation_is(folder: Folder, new: EmbeddingModel) -> None:
    begin_switch(folder.vault.pk, new)
    embed(folder, seconds=0)
    made = generation(folder.vault.pk, new)
    assert (made.done, made.total, made.waiting, made.percent) == (0, 3, 3, 0)
    embed(folder)
    made = generation(folder.vault.pk, new)
    assert (made.done, made.waiting, made.percent, made.is_held) == (3, 0, 100, False)


def fussy(*words: str) -> Scripted:
    """A model that refuses every text with one of these words."""

    def refuse(texts: Sequence[str], vectors: Vectors) -> Vectors:
        if any(word in text for text in texts for word in words):
            raise InputTooLong("too long")
        return vectors

    backend = Scripted(32)
    backend.fault = refuse
    return backend


def test_a_refused_passage_does_not_hold_the_change_up(folder: Folder, new: EmbeddingModel) -> None:
    begin_switch(folder.vault.pk, new)
    embed(folder, two=fussy("subject1"))
    assert generation(folder.vault.pk, new).percent == 100
    assert finish_switch(folder.vault.pk)


def test_a_model_that_refuses_everything_never_takes_over(
    folder: Folder, old: EmbeddingModel, new: EmbeddingModel
) -> None:
    begin_switch(folder.vault.pk, new)
    embed(folder, two=fussy("Note"))
    assert generation(folder.vault.pk, new).is_held
    assert not finish_switch(folder.vault.pk)
    assert serving(folder) == old


def test_a_change_that_is_called_off_leaves_no_vector_of_the_other_model(
    folder: Folder, old: EmbeddingModel, new: EmbeddingModel
) -> None:
    begin_switch(folder.vault.pk, new)
    embed(folder)
    begin_switch(folder.vault.pk, old)
    assert folder.vault.next_embedding_model is None
    assert generations.orphans_of(folder.vault.pk).count() == 3
    clean_up(folder)
    assert (count(old), count(new)) == ((3, 3), (0, 0))
    assert serving(folder) == old
    assert not generations.orphans_of(folder.vault.pk).exists()


def test_another_choice_in_the_middle_ends_with_the_last_one(
    folder: Folder, old: EmbeddingModel, new: EmbeddingModel
) -> None:
    begin_switch(folder.vault.pk, new)
    embed(folder)
    third = make_model("three", dimensions=16)
    begin_switch(folder.vault.pk, third)
    assert not finish_switch(folder.vault.pk)
    embed(folder)
    assert finish_switch(folder.vault.pk)
    clean_up(folder)
    assert serving(folder) == third
    assert (count(old)[0], count(new)[0], count(third)[0]) == (3, 0, 3)


def test_the_way_back_is_at_once_and_can_be_gone_again(
    folder: Folder, old: EmbeddingModel, new: EmbeddingModel
) -> None:
    begin_switch(folder.vault.pk, new)
    embed(folder)
    finish_switch(folder.vault.pk)
    clean_up(folder)
    assert generations.roll_back(folder.vault.pk) == old
    assert serving(folder) == old
    assert embed(folder) == 0
    assert generations.roll_back(folder.vault.pk) == new
    assert serving(folder) == new


def test_what_changed_after_the_change_is_embedded_after_the_way_back(
    folder: Folder, new: EmbeddingModel
) -> None:
    begin_switch(folder.vault.pk, new)
    embed(folder)
    finish_switch(folder.vault.pk)
    folder.write("000.md", "# Note 0\n\nRewritten since.")
    folder.sync()
    embed(folder)
    generations.roll_back(folder.vault.pk)
    assert embed(folder) == 1


def test_the_way_back_ends_when_it_is_given_up(folder: Folder, new: EmbeddingModel) -> None:
    begin_switch(folder.vault.pk, new)
    embed(folder)
    finish_switch(folder.vault.pk)
    generations.discard_previous(folder.vault.pk)
    clean_up(folder)
    assert ChunkVector.objects.exclude(embedding_model=new).count() == 0
    with pytest.raises(SwitchRefused, match="not kept"):
        generations.roll_back(folder.vault.pk)
    assert serving(folder) == new


def test_the_way_back_ends_by_itself_after_some_days(folder: Folder, new: EmbeddingModel) -> None:
    Upkeep.objects.create(pk=1, keep_vectors_days=3)
    begin_switch(folder.vault.pk, new)
    embed(folder)
    finish_switch(folder.vault.pk)
    Vault.objects.update(model_switched=timezone.now() - timedelta(days=2))
    assert generations.discard_expired() == []
    Vault.objects.update(model_switched=timezone.now() - timedelta(days=4))
    index_tasks.request_expired_cleanups()
    assert Job.objects.get(kind="cleanup").vault == folder.vault


def test_without_a_model_search_is_by_words_at_once_and_the_way_back_is_free(
    folder: Folder, old: EmbeddingModel
) -> None:
    begin_switch(folder.vault.pk, None)
    assert serving(folder) is None
    begin_switch(folder.vault.pk, old)
    assert serving(folder) == old
    assert embed(folder) == 0


def test_a_vault_without_a_model_is_served_at_once_by_the_first(
    tmp_path: Path, new: EmbeddingModel
) -> None:
    folder = make_folder(tmp_path / "plain")
    fill(folder, 1)
    begin_switch(folder.vault.pk, new)
    assert serving(folder) == new
    assert folder.vault.next_embedding_model is None


def test_jobs_bring_a_switch_to_its_end(folder: Folder) -> None:
    third = make_model("three", dimensions=16)
    begin_switch(folder.vault.pk, third)
    index_tasks.request_new_model(folder.vault.pk)
    kinds = do_everything()
    assert serving(folder) == third
    assert "switch" in kinds
    assert count(third) == (3, 3)
    generations.discard_previous(folder.vault.pk)
    job = index_tasks.request_cleanup(folder.vault.pk)
    assert set(do_everything()) == {"cleanup", "vector_index"}
    job.refresh_from_db()
    assert (job.state, job.progress["done"]) == ("done", 3)
    assert ChunkVector.objects.count() == Chunk.objects.count() == 3


def test_a_switch_that_was_cut_before_its_last_step_is_found_by_the_next_scan(
    folder: Folder, new: EmbeddingModel
) -> None:
    begin_switch(folder.vault.pk, new)
    embed(folder)
    assert tasks._is_embedding_due(folder.vault.pk, changed=False)
    finish_switch(folder.vault.pk)
    assert not tasks._is_embedding_due(folder.vault.pk, changed=False)
