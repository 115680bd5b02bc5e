"""Sync: a note that is moved, renamed, swapped or edited on the way stays the same note."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.vault.folders import Folder, paragraphs
from vault.models import Note
from vault.storing import move_notes

pytestmark = pytest.mark.django_db


WORDS = [
    "pump",
    "valve",
    "cellar",
    "winter",
    "harbour",
    "ledger",
    "copper",
    "lantern",
    "orchard",
    "paper",
    "river",
]


def test_a_moved_note_keeps_its_id_and_its_chunks(folder: Folder) -> None:
    folder.write("Old folder/plan.md", "# Plan\n\nrolmane")
    folder.sync()
    note, chunks = folder.note("Old folder/plan.md"), folder.chunks("Old folder/plan.md")
    folder.move("Old folder/plan.md", "New folder/plan.md")
    run = folder.sync()
    assert run.counts["moved"] == 1
    moved = folder.note("New folder/plan.md")
    assert moved.pk == note.pk
    assert [c.pk for c in folder.chunks("New folder/plan.md")] == [c.pk for c in chunks]
    assert [c.embed_hash for c in folder.chunks("New folder/plan.md")] == [
        c.embed_hash for c in chunks
    ]
    assert moved.updated == note.updated
    assert folder.sync().counts["changes"] == 0


def test_a_moved_folder_is_written_in_a_few_statements(folder: Folder) -> None:
    for number in range(30):
        folder.write(f"Old/{number}.md", f"# Note {number}")
    folder.sync()
    ids = {note.path: note.pk for note in Note.objects.filter(vault=folder.vault)}
    moves = {path.replace("Old/", "New/"): pk for path, pk in ids.items()}
    with CaptureQueriesContext(connection) as queries:
        move_notes(folder.vault.pk, moves)
    assert len(queries) < 15
    assert {note.path: note.pk for note in Note.objects.filter(vault=folder.vault)} == moves


def test_a_move_with_an_edit_leaves_one_note_with_the_new_text(folder: Folder) -> None:
    folder.write("a.md", "selmane")
    folder.write("other.md", "other")
    folder.sync()
    folder.delete("a.md")
    folder.write("b.md", "tulmane")
    folder.sync()
    assert folder.paths() == ["b.md", "other.md"]
    assert folder.found("selmane") == []
    assert folder.found("tulmane") == ["b.md"]


def test_a_note_that_was_moved_and_edited_keeps_its_id(folder: Folder) -> None:
    sentences = [f"The {word} was looked at on day {number}." for number, word in enumerate(WORDS)]
    folder.write("Old/plan.md", "# Plan\n\n" + "\n\n".join(sentences))
    folder.write("Old/other.md", paragraphs("other"))
    folder.sync()
    note = folder.note("Old/plan.md")
    folder.delete("Old/plan.md")
    folder.write("New/roadmap.md", "# Roadmap\n\n" + "\n\n".join([*sentences[2:], "rolmane"]))
    run = folder.sync()
    assert (run.counts["moved"], run.counts["created"], run.counts["deleted"]) == (1, 0, 0)
    moved = folder.note("New/roadmap.md")
    assert (moved.pk, moved.title) == (note.pk, "Roadmap")
    assert folder.found("rolmane") == ["New/roadmap.md"]
    assert folder.sync().counts["changes"] == 0


def test_a_name_in_another_case_is_the_same_note(folder: Folder) -> None:
    folder.write("plan.md", "selmane")
    folder.write("other.md", "words")
    folder.sync()
    note = folder.note("plan.md")
    folder.delete("plan.md")
    folder.write("Plan.md", "tulmane")
    assert folder.sync().counts["moved"] == 1
    assert folder.note("Plan.md").pk == note.pk
    assert folder.found("tulmane") == ["Plan.md"]


def test_a_new_note_from_the_template_of_a_deleted_one_is_a_new_note(folder: Folder) -> None:
    template = paragraphs("tasks", "notes")
    for day in ("01", "02", "03"):
        folder.write(f"daily/2026-01-{day}.md", template)
    folder.sync()
    gone = folder.note("daily/2026-01-01.md").pk
    folder.delete("daily/2026-01-01.md")
    folder.write("daily/2026-01-04.md", template + "\n\nselmane")
    run = folder.sync()
    assert (run.counts["created"], run.counts["deleted"]) == (1, 1)
    assert folder.note("daily/2026-01-04.md").pk != gone


def test_notes_that_swap_their_names_keep_their_ids(folder: Folder) -> None:
    folder.write("a.md", "# One\n\nselmane")
    folder.write("b.md", "# Two\n\ntulmane")
    folder.sync()
    one, two = folder.note("a.md").pk, folder.note("b.md").pk
    folder.move("a.md", "c.tmp")
    folder.move("b.md", "a.md")
    folder.move("c.tmp", "b.md")
    folder.sync()
    assert (folder.note("a.md").pk, folder.note("b.md").pk) == (two, one)
    assert folder.found("selmane") == ["b.md"]


def test_a_note_moved_over_another_replaces_it(folder: Folder) -> None:
    folder.write("a.md", "selmane")
    folder.write("b.md", "tulmane")
    folder.sync()
    kept = folder.note("a.md").pk
    folder.move("a.md", "b.md")
    folder.sync()
    assert folder.note("b.md").pk == kept
    assert folder.found("tulmane") == []
    assert folder.found("selmane") == ["b.md"]
