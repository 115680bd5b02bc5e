"""Trees, words and properties as pages show them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cast import Cast
from tests.vault.notes import make_note
from vault.core.archives import ArchivePlan
from vault.models import Note, SyncRun
from vault.presenters import (
    TreeRow,
    archive_words,
    job_words,
    note_tree,
    run_words,
    tree_of,
    vault_rows,
)
from vault.status import CurrentJob


def told(rows: list[TreeRow]) -> list[str]:
    return [f"{row.step} {row.name}".strip() for row in rows]


NOTES = [("b/x.md", "X"), ("a.md", "A"), ("b/c/y.md", ""), ("d/z.md", "Z")]


def test_folders_come_first_and_close_after_their_notes() -> None:
    assert told(note_tree(NOTES)) == [
        "open b", "open c", "note y", "close", "note X", "close", "open d", "note Z", "close",
        "note A",
    ]  # fmt: skip


def test_folders_on_the_way_to_the_open_note_are_open() -> None:
    rows = note_tree(NOTES, current="b/c/y.md")
    assert [row.name for row in rows if row.is_open] == ["b", "c"]
    assert next(row.count for row in rows if row.name == "b") == 2


def test_a_pruned_tree_names_other_folders_without_their_notes() -> None:
    rows = note_tree(NOTES, current="b/x.md", is_pruned=True)
    assert told(rows) == ["open b", "folder c", "note X", "close", "folder d", "note A"]
    assert next(row.path for row in rows if row.name == "d") == "d/"


def test_folders_may_be_deep() -> None:
    deep = "/".join(["f"] * 3000) + "/n.md"
    assert len(note_tree([(deep, "N")], current=deep)) == 6001


@given(st.sets(st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join), max_size=12))
def test_every_note_is_told_once_and_every_folder_closes(paths: set[str]) -> None:
    rows = note_tree([(f"{path}.md", "") for path in paths])
    assert sorted(row.path for row in rows if row.step == "note") == sorted(
        f"{path}.md" for path in paths
    )
    depth = 0
    for row in rows:
        depth += {"open": 1, "close": -1}.get(row.step, 0)
        assert depth >= 0
    assert depth == 0


def test_a_filter_lists_notes_by_path_or_title(cast: Cast) -> None:
    make_note(cast.vault, "x/Backup.md", title="Drills")
    make_note(cast.vault, "x/Other.md", title="Backups of 2026")
    make_note(cast.vault, "x/Third.md")
    make_note(cast.vault, "x/Backup draft.md", status=Note.Status.EXCLUDED)
    rows = tree_of(Note.objects.filter(vault=cast.vault), contains="backup").rows
    assert [row.path for row in rows] == ["x/Backup.md", "x/Other.md"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "sync", "state": "running", "stage": "notes", "done": 3, "total": 9,
          "per_second": 2.0, "seconds_left": 3},
         "Reading notes · 3 of 9 · 2.0 a second · 3 seconds left"),
        ({"kind": "embed", "state": "running", "seconds_left": 240, "per_second": 0.5},
         "Making notes searchable by meaning · 0.5 a second · 4 minutes left"),
        ({"kind": "sync", "state": "queued"}, "Waiting for the worker: syncing"),
    ],
)  # fmt: skip
def test_a_job_says_what_how_fast_and_how_long(fields: dict[str, object], words: str) -> None:
    rest = {"stage": "", "done": 0, "total": 0, "per_second": 0.0, "seconds_left": None,
            "attempts": 1, "last_error": ""}  # fmt: skip
    assert job_words(CurrentJob(**(rest | fields))) == words  # type: ignore[arg-type]


def test_a_run_says_what_changed() -> None:
    assert run_words({"created": 2, "deleted": 1, "updated": 0}) == "2 new, 1 deleted"
    assert run_words({}) == "nothing changed"


def test_the_list_holds_readable_vaults_with_their_counts(cast: Cast) -> None:
    make_note(cast.vault, "a.md")
    make_note(cast.vault, "b.md", status=Note.Status.FAILED)
    make_note(cast.foreign_vault, "c.md")
    (row,) = vault_rows(cast.mate)
    assert (row.vault, row.notes, row.searchable, row.percent) == (cast.vault, 2, 1, 50)
    assert row.role == "reader"
    assert vault_rows(cast.owner)[0].role == "owner"


def test_a_vault_whose_last_reading_failed_says_so(cast: Cast) -> None:
    for state in ("done", "failed"):
        SyncRun.objects.create(vault=cast.vault, state=state)
    SyncRun.objects.create(vault=cast.vault, kind="check", state="done")
    (row,) = vault_rows(cast.mate)
    assert row.has_failed
    SyncRun.objects.create(vault=cast.vault, state="done")
    assert not vault_rows(cast.mate)[0].has_failed


def test_an_archive_names_the_kinds_that_are_not_read() -> None:
    plan = ArchivePlan((("a.md", "a.md"),), 5, {".docx": 3, "other": 1})
    assert archive_words(plan) == (
        "1 file was unpacked and is being read. 5 files were left out. "
        "Of kinds that are not read: 3 .docx, 1 other."
    )
    assert archive_words(ArchivePlan(plan.files, 1, {})).endswith("1 file was left out.")


def test_names_in_the_tree_stand_without_regard_to_marks() -> None:
    pairs = [(f"{name}.md", "") for name in ("Zebra", "äpfel", "Birne", "Apfel")]
    assert [row.path for row in note_tree(pairs)] == [
        "Apfel.md", "äpfel.md", "Birne.md", "Zebra.md"
    ]  # fmt: skip
