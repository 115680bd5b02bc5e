"""Tasks: from a wish to a searchable vault, and what becomes of a provider's trouble."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from providers.models import EmbeddingModel, Provider
from tests.vault.folders import Folder, make_folder
from vault import jobs, tasks
from vault.locks import Busy, Work, only_one
from vault.models import Chunk, ChunkVector, Job, LexicalCorpus, SyncRun

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path, settings: Settings) -> Folder:
    settings.JOBS_AFTER_SYNC = ()  # of other apps
    provider = Provider.objects.create(slug="fake", name="Fake", kind="fake", needs_key=False)
    model = EmbeddingModel.objects.create(provider=provider, name="hash", dimensions=64)
    folder = make_folder(tmp_path / "notes", embedding_model=model)
    folder.write("a.md", "# Apples\n\nOf quorvex.")
    return folder


def do_everything() -> list[str]:
    """As workers do: whatever is due, and what follows from it. Returns the kinds done."""
    done: list[str] = []
    while True:
        Job.objects.filter(state=Job.State.QUEUED).update(run_after=None)
        job = Job.objects.due().order_by("pk").first()
        if job is None or len(done) > 50:
            return done
        done.append(job.kind)
        tasks.run_job(job.pk)


def test_a_wish_to_sync_ends_in_a_vault_that_is_searchable_both_ways(folder: Folder) -> None:
    tasks.request_sync(folder.vault.pk)
    assert do_everything() == ["sync", "lexemes", "embed", "vector_index"]
    assert folder.found("quorvex") == ["a.md"]
    assert ChunkVector.objects.count() == 1
    assert LexicalCorpus.objects.exists()
    assert set(Job.objects.values_list("state", flat=True)) == {"done"}


def test_a_sync_without_changes_asks_for_nothing(folder: Folder) -> None:
    tasks.request_sync(folder.vault.pk)
    do_everything()
    tasks.request_sync(folder.vault.pk)
    assert do_everything() == ["sync"]


def test_every_file_is_hashed_once_a_day(folder: Folder) -> None:
    were_full = []
    for _day in range(2):
        for _scan in range(3):
            tasks.request_sync(folder.vault.pk)
            do_everything()
            latest = SyncRun.objects.first()
            were_full.append(latest is not None and latest.counts["full"])
        SyncRun.objects.update(started=timezone.now() - timedelta(hours=25))
    assert were_full == [False, True, False, True, False, False]


def test_a_file_that_is_being_written_is_looked_at_again(
    folder: Folder, settings: Settings
) -> None:
    folder.write("b.md", "# B")
    settings.QUIET_SECONDS = 0.2
    (folder.root / "b.md").touch()
    job = tasks.request_sync(folder.vault.pk)
    tasks.run_job(job.pk)
    job.refresh_from_db()
    assert folder.paths() == ["a.md", "b.md"]
    assert job.state == Job.State.DONE


def test_an_embedding_job_with_a_refused_key_fails_with_the_mend(folder: Folder) -> None:
    Provider.objects.update(enabled=False)
    tasks.request_sync(folder.vault.pk)
    do_everything()
    job = Job.objects.get(kind="embed")
    assert job.state == Job.State.FAILED
    assert "switched off" in job.last_error
    tasks.request_sync(folder.vault.pk)
    assert do_everything() == ["sync"], "not again and again while nothing changed"
    Job.objects.filter(kind="embed").update(finished=timezone.now() - timedelta(hours=2))
    Provider.objects.update(enabled=True)
    tasks.request_sync(folder.vault.pk)
    assert do_everything() == ["sync", "embed", "vector_index"]


def test_a_busy_vault_is_looked_at_again_without_an_error(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*args: object, **options: object) -> None:
        raise Busy("somebody else is at it")

    monkeypatch.setattr(tasks, "sync_vault", busy)
    job = tasks.request_sync(folder.vault.pk)
    assert tasks.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempts, job.last_error) == ("queued", 0, "")


def test_a_lock_is_free_again_when_its_work_failed() -> None:
    with pytest.raises(ValueError, match="no luck"), only_one(Work.SYNC, 1):
        raise ValueError("no luck")
    with only_one(Work.SYNC, 1):
        pass


def claimed_again(job: Job) -> Job:
    """The job in the hands of the next worker, after the one before died."""
    Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    claimed = jobs.claim(job.pk)
    assert claimed is not None
    return claimed


def test_suspects_are_those_the_worker_died_at(folder: Folder) -> None:
    folder.sync()
    job = tasks.request_embed(folder.vault.pk)
    first = jobs.claim(job.pk)
    assert first is not None
    assert tasks._suspects(first) == []
    jobs.report(first, batch=[11, 12])
    assert tasks._suspects(claimed_again(job)) == [11, 12]


def test_a_chunk_is_given_up_only_when_it_was_alone_at_two_deaths(folder: Folder) -> None:
    folder.write("b.md", "# B\n\nOf something else.")
    folder.sync()
    one, other = Chunk.objects.order_by("pk").values_list("pk", flat=True)
    job = tasks.request_embed(folder.vault.pk)
    claimed = jobs.claim(job.pk)
    for alone in (one, other):
        assert claimed is not None
        jobs.report(claimed, batch=[alone])
        claimed = claimed_again(job)
        assert tasks._suspects(claimed) == [alone]
    assert claimed is not None
    jobs.report(claimed, batch=[one])
    assert tasks._suspects(claimed_again(job)) == []
    failed = Chunk.objects.exclude(embed_failed="").get()
    assert failed.pk == one


def test_attempts_that_got_something_done_do_not_bring_a_job_to_its_end(folder: Folder) -> None:
    folder.sync()
    job = tasks.request_embed(folder.vault.pk)
    for _death in range(8):
        claimed = jobs.claim(job.pk)
        assert claimed is not None, "not given up"
        jobs.note_headway(claimed)
        Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))


def test_the_canary_sings() -> None:
    assert tasks.sing() is True
