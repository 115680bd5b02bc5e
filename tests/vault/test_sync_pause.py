"""Sync: a vault that lost too much at once asks instead of deleting."""

from __future__ import annotations

import pytest

from tests.vault.folders import Folder, as_nobody, open_way
from vault.models import SyncRun, Vault
from vault.sync import answer_pause

pytestmark = pytest.mark.django_db


class TestPause:
    """A vault that lost too much at once asks instead of deleting."""

    def fill(self, folder: Folder, count: int = 20) -> None:
        for number in range(count):
            folder.write(f"{number}.md", f"note number {number}")
        folder.sync()

    def assert_asks(self, folder: Folder, run: SyncRun, word: str) -> None:
        folder.vault.refresh_from_db()
        assert run.state == SyncRun.State.PAUSED
        assert folder.vault.state == Vault.State.PAUSED
        assert word in folder.vault.pause_reason

    def test_more_than_a_fifth_gone_pauses_and_deletes_nothing(self, folder: Folder) -> None:
        self.fill(folder)
        for number in range(5):
            folder.delete(f"{number}.md")
        self.assert_asks(folder, folder.sync(), "5 of 20")
        assert len(folder.paths()) == 20

    @pytest.mark.parametrize(("notes", "gone"), [(25, 5), (8, 4)], ids=["a fifth", "a handful"])
    def test_a_fifth_or_less_than_a_handful_is_an_ordinary_deletion(
        self, folder: Folder, notes: int, gone: int
    ) -> None:
        self.fill(folder, notes)
        for number in range(gone):
            folder.delete(f"{number}.md")
        assert folder.sync().counts["deleted"] == gone
        assert len(folder.paths()) == notes - gone

    def test_an_emptied_folder_pauses(self, folder: Folder) -> None:
        self.fill(folder, 2)
        folder.delete("0.md")
        folder.delete("1.md")
        self.assert_asks(folder, folder.sync(), "every note")
        assert len(folder.paths()) == 2

    def test_a_vanished_folder_pauses(self, folder: Folder) -> None:
        self.fill(folder, 2)
        folder.root.rename(folder.root.with_name("elsewhere"))
        self.assert_asks(folder, folder.sync(), "is not there")
        assert len(folder.paths()) == 2

    def test_a_paused_vault_is_left_alone_until_somebody_answers(self, folder: Folder) -> None:
        self.fill(folder, 2)
        folder.root.rename(folder.root.with_name("elsewhere"))
        folder.sync()
        folder.root.with_name("elsewhere").rename(folder.root)
        folder.write("new.md", "selmane")
        assert folder.sync().state == SyncRun.State.PAUSED
        answer_pause(folder.vault.pk, delete=False)
        assert folder.sync().state == SyncRun.State.DONE
        assert folder.found("selmane") == ["new.md"]

    def test_yes_delete_deletes_once_and_asks_again_the_next_time(self, folder: Folder) -> None:
        self.fill(folder)
        for number in range(10):
            folder.delete(f"{number}.md")
        folder.sync()
        answer_pause(folder.vault.pk, delete=True)
        assert folder.sync().counts["deleted"] == 10
        for number in range(10, 15):
            folder.delete(f"{number}.md")
        self.assert_asks(folder, folder.sync(), "5 of 10")

    def test_resume_without_a_mend_asks_again(self, folder: Folder) -> None:
        self.fill(folder, 2)
        folder.delete("0.md")
        folder.delete("1.md")
        folder.sync()
        answer_pause(folder.vault.pk, delete=False)
        self.assert_asks(folder, folder.sync(), "every note")
        assert len(folder.paths()) == 2

    def test_notes_below_a_folder_that_may_not_be_looked_into_stay(self, folder: Folder) -> None:
        folder.write("closed/deep/a.md", "the heron")
        folder.write("closed too.md", "the pump")
        folder.sync()
        folder.delete("closed too.md")
        open_way(folder.root / "x")
        closed = folder.root / "closed"
        closed.chmod(0)
        with as_nobody():
            run = folder.sync()
        closed.chmod(0o755)
        assert (run.state, run.counts["deleted"]) == (SyncRun.State.WARNINGS, 1)
        assert folder.paths() == ["closed/deep/a.md"]
