"""The check of an index: it finds nothing, and mends what somebody broke."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.base import CommandError

from tests.vault.embedder import Scripted, fill, make_model
from tests.vault.folders import Folder, make_folder
from tests.vault.test_tasks import do_everything
from vault import checking, index_tasks, jobs
from vault.checking import check_vault, claim_scheduled_check
from vault.embedding import embed_pending
from vault.generations import begin_switch
from vault.locks import Busy, Work, only_one
from vault.models import Chunk, ChunkVector, Job, NoteVector, SyncRun, Upkeep, Vault
from vault.presenters import run_words
from vault.rescrub import rescrub_vault

pytestmark = pytest.mark.django_db

SUNDAY = datetime(2026, 3, 1, 2, 59, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    folder = make_folder(tmp_path / "notes", embedding_model=make_model())
    fill(folder, 3)
    embed_pending(folder.vault.pk, most_seconds=60, backend_of=lambda model: Scripted())
    return folder


def check(folder: Folder) -> SyncRun:
    return check_vault(folder.vault.pk, most_seconds=30)


def found(run: SyncRun) -> dict[str, int]:
    """What a check counted that is not as it should be."""
    return {name: n for name, n in run.counts.items() if n and name not in {"checked", "scrubber"}}


def test_a_sound_index_is_left_alone_and_the_check_stands_in_the_history(folder: Folder) -> None:
    before = list(ChunkVector.objects.order_by("pk").values_list("pk", "embed_hash"))
    run = check(folder)
    assert (run.kind, run.state, run.counts["checked"]) == ("check", "done", 3)
    assert found(run) == {}
    assert list(ChunkVector.objects.order_by("pk").values_list("pk", "embed_hash")) == before
    assert run_words(run.counts) == "Check: nothing was wrong"
    assert run in SyncRun.objects.filter(vault=folder.vault)


def test_a_file_that_changed_without_a_trace_is_read(folder: Folder) -> None:
    file = folder.root / "000.md"
    times = file.stat()
    file.write_text(file.read_text().replace("About", "Quorv"))
    import os

    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    folder.sync()
    assert folder.found("quorv") == []
    assert found(check(folder)) == {"differ": 1, "vectors": 1}
    assert folder.found("quorv") == ["000.md"]


def test_a_wrong_hash_is_corrected_and_its_vector_made_anew(folder: Folder) -> None:
    Chunk.objects.filter(note__path="001.md").update(embed_hash="wrong")
    run = check(folder)
    assert found(run)["hashes"] == 1
    assert run_words(run.counts).startswith("Check: 1 passages corrected")
    assert not Chunk.objects.filter(embed_hash="wrong").exists()


def test_vectors_that_are_missing_are_counted_and_asked_for(folder: Folder) -> None:
    ChunkVector.objects.filter(pk__in=ChunkVector.objects.values("pk")[:2]).delete()
    NoteVector.objects.filter(pk__in=NoteVector.objects.values("pk")[:1]).delete()
    index_tasks.request_checks()
    assert "embed" in do_everything()
    run = SyncRun.objects.get(kind="check")
    assert run.counts["vectors"] == 2
    assert ChunkVector.objects.count() == NoteVector.objects.count() == 3


def test_a_note_vector_that_is_missing_is_made_at_once(folder: Folder) -> None:
    NoteVector.objects.all().delete()
    assert found(check(folder)) == {"note_vectors": 3}
    assert NoteVector.objects.count() == 3


def test_vectors_of_nobody_are_cleaned_up(folder: Folder) -> None:
    other = make_model("two")
    begin_switch(folder.vault.pk, other)
    embed_pending(folder.vault.pk, most_seconds=60, backend_of=lambda model: Scripted())
    Vault.objects.update(next_embedding_model=None)
    index_tasks.request_checks()
    assert "cleanup" in do_everything()
    assert SyncRun.objects.get(kind="check").counts["orphans"] == 3
    assert not ChunkVector.objects.filter(embedding_model=other).exists()


def test_a_secret_in_a_stored_line_is_taken_out(folder: Folder) -> None:
    secret = "ghp_" + "a1B2" * 9
    Chunk.objects.filter(note__path="001.md").update(context=f"The key {secret}.")
    run = check(folder)
    assert found(run)["secrets"] == 1
    assert not Chunk.objects.filter(context__contains=secret).exists()


def test_a_new_scrubber_goes_over_what_is_stored(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(folder)
    went_over: list[int] = []

    def watched(vault_id: int, *, wait: float) -> object:
        went_over.append(vault_id)
        return rescrub_vault(vault_id, wait=wait)

    monkeypatch.setattr(checking, "rescrub_vault", watched)
    check(folder)
    assert went_over == []
    monkeypatch.setattr(checking, "SCRUBBER_VERSION", 999)
    check(folder)
    assert went_over == [folder.vault.pk]


def test_only_the_last_checks_are_kept_and_a_killed_one_is_not(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "MOST_KEPT", 2)
    SyncRun.objects.create(vault=folder.vault, kind="check", state="running")
    for _time in range(3):
        check(folder)
    runs = SyncRun.objects.filter(kind="check")
    assert list(runs.values_list("state", flat=True)) == ["done", "done"]


@pytest.mark.django_db(transaction=True)
def test_a_busy_vault_is_checked_later(folder: Folder) -> None:
    from threading import Thread

    from django.db import connection

    outcome: list[str] = []

    def try_it() -> None:
        try:
            check(folder)
        except Busy:
            outcome.append("busy")
        finally:
            connection.close()

    with only_one(Work.SYNC, folder.vault.pk):
        thread = Thread(target=try_it)
        thread.start()
        thread.join()
    assert outcome == ["busy"]
    assert not SyncRun.objects.filter(kind="check").exists()


def test_a_check_that_fails_says_so_in_the_history(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **options: object) -> None:
        raise ValueError("no luck")

    monkeypatch.setattr(checking, "write_note_vectors", broken)
    job = Job.objects.create(kind="check", key="check", vault=folder.vault)
    assert jobs.run(job.pk)
    run = SyncRun.objects.get(kind="check")
    assert (run.state, "list of jobs" in run.error) == ("failed", True)
    job.refresh_from_db()
    assert "no luck" in job.last_error


def test_the_schedule_claims_one_check_for_all_workers() -> None:
    assert claim_scheduled_check(SUNDAY), "the first of all"
    assert not claim_scheduled_check(SUNDAY)
    assert not claim_scheduled_check(SUNDAY + timedelta(seconds=59))
    assert claim_scheduled_check(SUNDAY + timedelta(minutes=1)), "Sunday, three o'clock"
    assert not claim_scheduled_check(SUNDAY + timedelta(minutes=2))
    assert not claim_scheduled_check(SUNDAY + timedelta(days=6))
    assert claim_scheduled_check(SUNDAY + timedelta(days=30)), "late, once"
    Upkeep.objects.update(check_schedule="*/10 * * * *")
    assert claim_scheduled_check(SUNDAY + timedelta(days=30, minutes=11))


def test_a_schedule_that_never_comes_is_refused_and_stops_no_worker() -> None:
    never = "0 0 31 2 *"
    with pytest.raises(ValidationError, match="never comes"):
        Upkeep(pk=1, check_schedule=never).full_clean()
    Upkeep(pk=1, check_schedule="0 0 29 2 *").full_clean()
    Upkeep.objects.create(pk=1, check_schedule=never, checked=SUNDAY)
    assert not claim_scheduled_check(SUNDAY + timedelta(days=900))


def test_paused_vaults_are_not_checked(folder: Folder) -> None:
    Vault.objects.update(state=Vault.State.PAUSED)
    index_tasks.request_checks()
    assert not Job.objects.exists()


def test_whoever_waits_for_the_index_waits_for_its_check(folder: Folder) -> None:
    index_tasks.request_checks()
    with pytest.raises(CommandError, match="check queued"):
        call_command("wait_index", folder.vault.slug, timeout=0)
    assert jobs.run(Job.objects.get(kind="check").pk)


def test_a_check_beside_an_embedding_job_leaves_the_vectors_to_it(folder: Folder) -> None:
    index_tasks.request_checks()
    jobs.want("embed", key=f"embed:{folder.vault.pk}", vault_id=folder.vault.pk)
    assert jobs.run(Job.objects.get(kind="check").pk)
    job = Job.objects.get(kind="check")
    assert (job.state, job.last_error) == (Job.State.DONE, "")


def test_a_check_is_no_reading_of_the_vault(folder: Folder) -> None:
    from vault.status import vault_status

    before = vault_status(folder.vault).last_run
    check(folder)
    after = vault_status(folder.vault).last_run
    assert before is not None
    assert after is not None
    assert after.kind == "sync"
