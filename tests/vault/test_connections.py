"""Links and embedded texts follow the notes, whatever cut the run that stored them."""

from __future__ import annotations

import pytest

from tests.vault.folders import Folder, snapshot
from vault.connections import due_connections
from vault.models import Chunk, Note, Vault
from vault.sync import SyncProgress, sync_vault

pytestmark = pytest.mark.django_db


class Killed(BaseException):
    """The process ends here: nothing after it runs."""


class Killer:
    """Ends a run at its n-th report of progress; what was committed before it stays."""

    def __init__(self, at: int) -> None:
        self.left = at
        self.stage = ""

    def __call__(self, progress: SyncProgress) -> None:
        self.stage = progress.stage
        self.left -= 1
        if self.left == 0:
            raise Killed


def lived(folder: Folder) -> None:
    """A vault that was read, and then changed in every way."""
    folder.write("pump.md", "# Pump\n\nquorvex ^b1\n\n[[old name]] [[late]]")
    folder.write("old name.md", "# Old\n\nzelmira [[pump]] [[doomed]]")
    folder.write("doomed.md", "# Doomed\n\ntulmane")
    folder.write("shows.md", "Before.\n\n![[pump#^b1]] ![[doomed]]")
    folder.sync()
    folder.write("pump.md", "# Pump\n\nrolmane ^b1\n\n[[new name]] [[late]]")
    folder.move("old name.md", "new name.md")
    folder.delete("doomed.md")
    folder.write("late.md", "# Late\n\n[[shows]] ![[new name]]")


def test_links_of_an_unchanged_folder_are_finished_without_reading_a_file(folder: Folder) -> None:
    lived(folder)
    with pytest.raises(Killed):
        sync_vault(folder.vault.pk, on_progress=Killer(at=6))
    assert due_connections(folder.vault.pk) is not None
    run = folder.sync()
    assert (run.counts["changes"], "hashed" in run.counts) == (0, False)
    assert folder.found("rolmane") == ["pump.md", "shows.md"]
    assert folder.found("tulmane") == []


def test_an_edit_of_one_note_leaves_only_its_own_links_due(folder: Folder) -> None:
    folder.write("a.md", "[[b]]")
    folder.write("b.md", "words")
    folder.sync()
    folder.write("a.md", "[[b]] and more")
    with pytest.raises(Killed):
        sync_vault(folder.vault.pk, on_progress=Killer(at=6))
    due = due_connections(folder.vault.pk)
    assert due is not None
    assert due.note_ids == [folder.note("a.md").pk]


def test_a_run_in_slices_connects_once_at_its_end(folder: Folder) -> None:
    for number in range(3):
        folder.write(f"{number}.md", f"[[{(number + 1) % 3}]]")
    assert sync_vault(folder.vault.pk, most_seconds=0).counts["left"] == 2
    assert due_connections(folder.vault.pk) is not None
    while sync_vault(folder.vault.pk, most_seconds=0).counts.get("left"):
        pass
    assert due_connections(folder.vault.pk) is None
    assert not Note.objects.filter(vault=folder.vault, links__target=None).exists()


def test_what_was_stored_before_links_were_noted_as_due_is_looked_at_once(folder: Folder) -> None:
    folder.write("pump.md", "quorvex")
    folder.write("a.md", "![[pump]]")
    folder.sync()
    wanted = snapshot(folder.vault)
    Chunk.objects.update(embedded_text="", embedded_shown=0)
    Vault.objects.filter(pk=folder.vault.pk).update(links_due=True)
    assert folder.sync().counts["changes"] == 0
    assert snapshot(folder.vault) == wanted
