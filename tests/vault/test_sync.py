"""Sync: what a change in the folder does to notes, chunks, links and their identity."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.vault.folders import Folder, make_folder, paragraphs, snapshot
from vault import reading, sync
from vault.locks import Busy, Work, only_one
from vault.models import Chunk, Link, Note, ScrubFinding, SyncRun, Vault
from vault.sync import SyncProgress, sync_vault

pytestmark = pytest.mark.django_db


def test_a_new_note_is_found_by_its_words_at_once(folder: Folder) -> None:
    folder.write("a.md", "# Apples\n\nThey hold quorvex.")
    run = folder.sync()
    assert run.state == SyncRun.State.DONE
    assert run.counts["created"] == 1
    assert folder.found("quorvex") == ["a.md"]
    note = folder.note("a.md")
    assert (note.title, note.status) == ("Apples", Note.Status.INDEXED)


def test_a_second_run_does_nothing_and_reads_nothing(folder: Folder) -> None:
    folder.write("a.md", "# Apples")
    folder.write("empty.md", "")
    folder.sync()
    run = folder.sync()
    assert run.counts["changes"] == 0
    assert "hashed" not in run.counts


def test_of_runs_without_changes_only_the_last_is_kept(folder: Folder) -> None:
    folder.write("a.md", "# Apples")
    for _again in range(4):
        last = folder.sync()
    runs = SyncRun.objects.filter(vault=folder.vault)
    assert runs.count() == 2
    assert runs.first() == last


def test_an_edit_in_one_section_leaves_the_other_chunks_as_they_are(folder: Folder) -> None:
    folder.write("a.md", paragraphs("alpha", "beta", "gamma"))
    folder.sync()
    before = {chunk.pk: chunk.embed_hash for chunk in folder.chunks("a.md")}
    assert len(before) == 3
    folder.write("a.md", paragraphs("alpha", "delta", "gamma"))
    run = folder.sync()
    after = {chunk.pk: chunk.embed_hash for chunk in folder.chunks("a.md")}
    assert run.counts["updated"] == 1
    assert after.keys() == before.keys()
    assert sum(after[pk] != before[pk] for pk in after) == 1
    assert folder.found("beta") == []
    assert folder.found("delta") == ["a.md"]


def test_a_section_put_in_front_moves_the_others_and_keeps_their_rows(folder: Folder) -> None:
    folder.write("a.md", paragraphs("alpha", "beta"))
    folder.sync()
    before = {chunk.embed_hash: chunk.pk for chunk in folder.chunks("a.md")}
    folder.write("a.md", paragraphs("first", "alpha", "beta"))
    folder.sync()
    after = folder.chunks("a.md")
    assert [chunk.ordinal for chunk in after] == [0, 1, 2]
    assert [before.get(chunk.embed_hash) for chunk in after[1:]] == [c.pk for c in after[1:]]


def test_a_deleted_note_leaves_nothing_behind(folder: Folder) -> None:
    folder.write("a.md", "# A\n\nselmane [[b]] password: hunter2hunter2X")
    folder.write("b.md", "# B")
    folder.sync()
    gone = folder.note("a.md").pk
    folder.delete("a.md")
    folder.sync()
    assert folder.found("selmane") == []
    for table in (Chunk, ScrubFinding):
        assert not table.objects.filter(note_id=gone).exists()
    assert not Link.objects.filter(source_id=gone).exists()


def test_notes_of_equal_content_are_two_notes(folder: Folder) -> None:
    folder.write("a.md", "same words")
    folder.write("b.md", "same words")
    folder.sync()
    assert folder.found("words") == ["a.md", "b.md"]


def test_links_follow_notes_that_appear_move_and_vanish(folder: Folder) -> None:
    folder.write("a.md", "[[Target]] and [[#Here]]\n\n# Here")
    folder.sync()
    to_target, to_itself = Link.objects.order_by("start")
    assert to_target.target is None
    assert to_itself.target == folder.note("a.md")
    folder.write("Target.md", "here")
    folder.sync()
    to_target.refresh_from_db()
    assert to_target.target == folder.note("Target.md")
    folder.delete("Target.md")
    folder.sync()
    to_target.refresh_from_db()
    assert to_target.target is None


def test_a_secret_is_nowhere_in_the_tables_and_its_place_is(folder: Folder) -> None:
    secret = "ghp_" + "a1B2" * 9
    folder.write("a.md", f"# A\n\nline\ntoken: {secret}\n")
    folder.sync()
    assert secret not in folder.note("a.md").body
    assert not Chunk.objects.filter(content__contains=secret).exists()
    assert [finding.line for finding in ScrubFinding.objects.all()] == [4]


def test_other_settings_make_the_chunks_anew_without_a_change_of_files(folder: Folder) -> None:
    folder.write("a.md", "# A\n\n" + "Words in a row are here. " * 200)
    folder.sync()
    before = len(folder.chunks("a.md"))
    Vault.objects.filter(pk=folder.vault.pk).update(chunk_tokens=100, chunk_overlap=10)
    run = folder.sync()
    assert run.counts["again"] == 1
    assert len(folder.chunks("a.md")) > before


def test_a_new_time_alone_is_hashed_once_and_changes_nothing(folder: Folder) -> None:
    file = folder.write("a.md", "# A")
    folder.sync()
    os.utime(file, (1_800_000_000, 1_800_000_000))
    first, second = folder.sync(), folder.sync()
    assert (first.counts["hashed"], first.counts["changes"]) == (1, 0)
    assert "hashed" not in second.counts


def test_a_full_run_finds_a_change_behind_an_unchanged_size_and_time(folder: Folder) -> None:
    file = folder.write("a.md", "selmane")
    folder.sync()
    times = file.stat()
    file.write_text("tulmane")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert folder.sync().counts["changes"] == 0
    assert folder.sync(full=True).counts["updated"] == 1
    assert folder.found("tulmane") == ["a.md"]


def test_a_run_that_is_out_of_time_is_gone_on_with(folder: Folder) -> None:
    for number in range(5):
        folder.write(f"{number}.md", f"note number {number}")
    run = sync_vault(folder.vault.pk, most_seconds=0)
    assert run.counts["left"] == 4
    while sync_vault(folder.vault.pk, most_seconds=0).counts.get("left"):
        pass
    assert len(folder.paths()) == 5


def test_a_file_that_the_parser_fails_on_is_listed_and_stops_nobody(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = reading.read_note

    def failing(data: bytes, **arguments: object) -> object:
        if b"poison" in data:
            raise ValueError("no such luck")
        return real(data, **arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(sync, "read_note", failing)
    folder.write("bad.md", "poison")
    folder.write("good.md", "selmane")
    run = folder.sync()
    assert run.state == SyncRun.State.WARNINGS
    assert folder.found("selmane") == ["good.md"]
    bad = folder.note("bad.md")
    assert bad.status == Note.Status.FAILED
    assert "no such luck" in bad.reason
    for _again in range(5):
        folder.sync()
    assert folder.note("bad.md").attempts == sync.MOST_ATTEMPTS
    monkeypatch.setattr(sync, "read_note", real)
    folder.write("bad.md", "poison that is healed")
    folder.sync()
    assert folder.found("healed") == ["bad.md"]


@pytest.mark.parametrize("junk", ["\0", "\ud800"])
def test_a_note_that_the_database_refuses_is_listed_and_stops_nobody(
    folder: Folder, junk: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = reading.read_note

    def spoiling(data: bytes, **arguments: object) -> reading.Reading:
        read = real(data, **arguments)  # type: ignore[arg-type]
        if b"poison" not in data or read.note is None:
            return read
        return replace(read, note=replace(read.note, body=junk))

    monkeypatch.setattr(sync, "read_note", spoiling)
    for number in range(3):
        folder.write(f"good{number}.md", "selmane")
    folder.write("bad.md", "poison")
    folder.sync()
    assert folder.found("selmane") == ["good0.md", "good1.md", "good2.md"]
    bad = folder.note("bad.md")
    assert (bad.status, bad.attempts) == (Note.Status.FAILED, 1)
    assert "refused" in bad.reason


def test_two_syncs_of_one_vault_cannot_interleave(folder: Folder, transactional_db: None) -> None:
    from threading import Thread

    from django.db import connection

    outcome: list[str] = []

    def other() -> None:
        try:
            sync_vault(folder.vault.pk)
        except Busy as error:
            outcome.append(str(error))
        finally:
            connection.close()

    with only_one(Work.SYNC, folder.vault.pk):
        thread = Thread(target=other)
        thread.start()
        thread.join()
    assert len(outcome) == 1
    assert folder.sync().state == SyncRun.State.DONE


def test_progress_is_told(folder: Folder) -> None:
    folder.write("a.md", "a")
    told: list[SyncProgress] = []
    sync_vault(folder.vault.pk, on_progress=told.append)
    assert [progress.stage for progress in told] == [
        *("scan", "hash", "changes", "changes", "notes", "links", "embeds")
    ]
    assert told[4] == SyncProgress("notes", 1, 1)


def test_nothing_in_the_folder_is_written(folder: Folder) -> None:
    files = [folder.write("a.md", "[[b]]"), folder.write("sub/b.md", "# B\r\n\x00")]
    before = [file.stat() for file in files]
    for path in (folder.root / "sub", folder.root):
        path.chmod(0o555)
    try:
        folder.sync(full=True)
    finally:
        for path in (folder.root, folder.root / "sub"):
            path.chmod(0o755)
    after = [file.stat() for file in files]
    assert [(s.st_mtime_ns, s.st_ctime_ns) for s in after] == [
        (s.st_mtime_ns, s.st_ctime_ns) for s in before
    ]
    assert sorted(p.name for p in folder.root.rglob("*")) == ["a.md", "b.md", "sub"]


def test_a_cut_run_and_a_whole_one_end_in_the_same_tables(folder: Folder, tmp_path: Path) -> None:
    twin = make_folder(tmp_path / "twin")
    for number in range(6):
        for each in (folder, twin):
            each.write(f"{number}.md", f"# Note {number}\n\n[[{(number + 1) % 6}]] text {number}")
    folder.sync()
    while sync_vault(twin.vault.pk, most_seconds=0).counts.get("left"):
        pass
    assert snapshot(folder.vault) == snapshot(twin.vault)
