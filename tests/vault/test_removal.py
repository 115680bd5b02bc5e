"""Deleting a vault: hidden at once, brought back in time, removed in steps, files untouched."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from tests.cast import Cast
from tests.vault.folders import Folder, make_folder
from tests.vault.notes import make_link, make_model, make_note, make_vector
from tests.vault.test_tasks import do_everything
from vault import access, removal
from vault.adding import CannotAdd, add_vault, place_of
from vault.locks import Busy, Work, only_one
from vault.models import (
    Chunk,
    ChunkVector,
    Job,
    LexemeFrequency,
    Link,
    Note,
    NoteVector,
    SyncRun,
    Vault,
)
from vault.removal import (
    UNDO_TIME,
    RemovalRefused,
    delete_vault,
    loss_of,
    remove_rows,
    restore_vault,
    seconds_to_undo,
)
from vault.removal_tasks import call_off_removal, request_removal
from vault.sync import SyncProgress, answer_pause, pause_vault, sync_vault
from vault.tasks import request_sync

pytestmark = pytest.mark.django_db
OF_A_VAULT = (Chunk, ChunkVector, Job, LexemeFrequency, Link, Note, NoteVector, SyncRun)


@pytest.fixture
def folder(tmp_path: Path, settings: Settings) -> Folder:
    settings.JOBS_AFTER_SYNC = ()  # of other apps
    folder = make_folder(tmp_path / "notes")
    model = make_model(folder.vault)
    model.provider.needs_key = False
    model.provider.save()
    for number in range(5):
        folder.write(f"{number}.md", f"# Note {number}\n\nOf quorvex, see [[{number - 1}]].")
    folder.sync()
    return folder


def seen(count: int) -> None:
    """Progress that nobody looks at."""


def let_time_pass(vault: Vault) -> None:
    Vault.objects.filter(pk=vault.pk).update(deleted=timezone.now() - 2 * UNDO_TIME)


def test_a_deleted_vault_is_there_for_nobody_at_once(cast: Cast) -> None:
    make_note(cast.vault, "a.md", "text")
    delete_vault(cast.vault.pk, typed="Team")
    for user in (cast.owner, cast.mate):
        assert not access.visible_to(user).exists()
        assert not access.scope_for(user)
        assert not access.notes_of(user, cast.vault).exists()
    assert list(access.deleted_by(cast.owner)) == [cast.vault]
    assert not access.deleted_by(cast.mate).exists()
    assert not access.deleted_by(cast.outsider).exists()


@pytest.mark.parametrize("typed", ["", "team 2", "Tea", "foreign"])
def test_another_name_deletes_nothing(cast: Cast, typed: str) -> None:
    with pytest.raises(RemovalRefused, match="Type the name"):
        delete_vault(cast.vault.pk, typed=typed)
    assert access.visible_to(cast.mate).exists()


def test_the_name_may_be_typed_in_another_case(cast: Cast) -> None:
    assert delete_vault(cast.vault.pk, typed=" team ").state == Vault.State.DELETED
    with pytest.raises(RemovalRefused, match="already"):
        delete_vault(cast.vault.pk, typed="team")


@pytest.mark.parametrize("reason", ["", "The folder is gone."])
def test_it_comes_back_as_it_was(cast: Cast, reason: str) -> None:
    if reason:
        pause_vault(cast.vault.pk, reason=reason)
    delete_vault(cast.vault.pk, typed="Team")
    restored = restore_vault(cast.vault.pk)
    assert restored.state == (Vault.State.PAUSED if reason else Vault.State.ACTIVE)
    assert seconds_to_undo(restored) == 0
    assert access.visible_to(cast.mate).exists()


def test_a_run_that_ends_with_a_question_brings_no_deleted_vault_back(folder: Folder) -> None:
    folder.root.rename(folder.root.with_name("elsewhere"))

    def delete(progress: SyncProgress) -> None:
        delete_vault(folder.vault.pk, typed=folder.vault.name)

    run = sync_vault(folder.vault.pk, on_progress=delete)
    assert run.state == SyncRun.State.PAUSED
    assert Vault.objects.get(pk=folder.vault.pk).state == Vault.State.DELETED
    answer_pause(folder.vault.pk, delete=True)
    assert Vault.objects.get(pk=folder.vault.pk).state == Vault.State.DELETED


def test_nothing_is_removed_while_it_can_be_brought_back(folder: Folder) -> None:
    delete_vault(folder.vault.pk, typed=folder.vault.name)
    folder.vault.refresh_from_db()
    assert 0 < seconds_to_undo(folder.vault) <= UNDO_TIME.total_seconds()
    assert remove_rows(folder.vault.pk, most_seconds=9, on_progress=seen)
    assert len(folder.paths()) == 5
    restore_vault(folder.vault.pk)
    let_time_pass(folder.vault)
    assert remove_rows(folder.vault.pk, most_seconds=9, on_progress=seen)
    assert len(folder.paths()) == 5


def test_it_is_removed_in_steps_and_the_files_stay(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "BATCH", 2)
    files = {file.name: file.read_bytes() for file in folder.root.iterdir()}
    delete_vault(folder.vault.pk, typed=folder.vault.name)
    let_time_pass(folder.vault)
    steps: list[int] = []
    while not remove_rows(folder.vault.pk, most_seconds=0, on_progress=steps.append):
        assert Vault.objects.get(pk=folder.vault.pk).state == Vault.State.REMOVING
    assert max(steps) == 2
    assert len(steps) > 4
    assert not Vault.objects.filter(pk=folder.vault.pk).exists()
    for model in OF_A_VAULT:
        assert not model._default_manager.filter(vault_id=folder.vault.pk).exists()
    assert {file.name: file.read_bytes() for file in folder.root.iterdir()} == files


def test_other_vaults_keep_everything(cast: Cast) -> None:
    model = make_model(cast.foreign_vault)
    kept = make_note(cast.foreign_vault, "a.md")
    make_vector(kept, model, 1, 0, 0, 0)
    make_link(kept, make_note(cast.vault, "b.md"))
    delete_vault(cast.vault.pk, typed="Team")
    let_time_pass(cast.vault)
    assert remove_rows(cast.vault.pk, most_seconds=9, on_progress=seen)
    assert Link.objects.get().target is None
    assert NoteVector.objects.get().note == kept


def test_once_removal_began_it_is_too_late(folder: Folder) -> None:
    delete_vault(folder.vault.pk, typed=folder.vault.name)
    let_time_pass(folder.vault)
    assert not remove_rows(folder.vault.pk, most_seconds=0, on_progress=seen)
    with pytest.raises(RemovalRefused, match="too late"):
        restore_vault(folder.vault.pk)


@pytest.mark.parametrize("work", [Work.SYNC, Work.EMBED, Work.ENRICH])
@pytest.mark.django_db(transaction=True)
def test_it_waits_for_whoever_works_on_the_vault(cast: Cast, work: Work) -> None:
    from django.db import connections

    delete_vault(cast.vault.pk, typed="Team")
    let_time_pass(cast.vault)
    other = connections["default"].copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s, %s)", [int(work), cast.vault.pk])
        with pytest.raises(Busy):
            remove_rows(cast.vault.pk, most_seconds=9, on_progress=seen)
    finally:
        other.close()
    with only_one(work, cast.vault.pk, wait=5):
        pass
    assert remove_rows(cast.vault.pk, most_seconds=9, on_progress=seen)


def test_a_deleted_vault_is_not_read(folder: Folder) -> None:
    folder.write("new.md", "New.")
    delete_vault(folder.vault.pk, typed=folder.vault.name)
    run = folder.sync()
    assert run.state == SyncRun.State.FAILED
    assert "deleted" in run.error
    assert "new.md" not in folder.paths()


def test_a_folder_cannot_be_added_again_before_its_vault_is_gone(folder: Folder) -> None:
    delete_vault(folder.vault.pk, typed=folder.vault.name)
    with pytest.raises(CannotAdd, match="was deleted"):
        add_vault(place_of(folder.root), slug=folder.vault.slug)


def test_what_is_lost_is_counted(folder: Folder) -> None:
    loss = loss_of(folder.vault)
    assert (loss.notes, loss.passages, loss.members) == (5, 5, 1)


def test_the_worker_removes_it_and_brings_the_word_counts_up_to_date(folder: Folder) -> None:
    request_sync(folder.vault.pk)
    delete_vault(folder.vault.pk, typed=folder.vault.name)
    job = request_removal(folder.vault.pk)
    assert job.vault_id is None
    assert job.run_after is None or job.run_after > timezone.now()
    let_time_pass(folder.vault)
    done = do_everything()
    assert done[0] == "remove"
    assert {"lexemes", "vector_index"} <= set(done)
    assert not Vault.objects.filter(pk=folder.vault.pk).exists()
    assert Job.objects.get(kind="remove").state == Job.State.DONE


def test_a_vault_that_was_brought_back_is_read_again(folder: Folder) -> None:
    delete_vault(folder.vault.pk, typed=folder.vault.name)
    request_removal(folder.vault.pk)
    restore_vault(folder.vault.pk)
    call_off_removal(folder.vault.pk)
    assert "remove" not in do_everything()
    assert len(folder.paths()) == 5


def test_the_job_comes_after_the_time_to_undo(cast: Cast) -> None:
    delete_vault(cast.vault.pk, typed="Team")
    job = request_removal(cast.vault.pk)
    job.refresh_from_db()
    assert job.run_after is not None
    assert job.run_after > timezone.now() + UNDO_TIME - timedelta(seconds=5)


def test_an_uploaded_copy_goes_with_its_vault(tmp_path: Path, settings: Settings) -> None:
    settings.DATA_DIR = tmp_path
    uploaded = make_folder(tmp_path / "uploads" / "abc")
    Vault.objects.filter(pk=uploaded.vault.pk).update(source_kind=Vault.SourceKind.UPLOAD)
    delete_vault(uploaded.vault.pk, typed=uploaded.vault.name)
    let_time_pass(uploaded.vault)
    assert remove_rows(uploaded.vault.pk, most_seconds=9, on_progress=seen)
    assert not uploaded.root.exists()
