"""Notes that were moved: old addresses lead to where they are now, under rights."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client

from tests.cast import make_user
from tests.vault.folders import Folder, make_folder
from vault.models import FormerPath, VaultMember

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = make_folder(tmp_path / "notes")
    made.write("Old/A b.md", "# A\n\nThe words of the first note.")
    made.write("B.md", "# B\n\nThe words of the second note.")
    made.sync()
    return made


def get(folder: Folder, path: str, *, user: User | None = None) -> HttpResponse:
    client = Client()
    owner = VaultMember.objects.get(vault=folder.vault, role="owner").user
    client.force_login(user or owner)  # type: ignore[arg-type]
    where, _, asked = path.partition("?")
    url = f"/vaults/{folder.vault.slug}/notes/{quote(where)}"
    return client.get(f"{url}?{asked}" if asked else url)  # type: ignore[return-value]


def test_an_old_address_leads_to_the_note_with_all_that_was_asked(folder: Folder) -> None:
    folder.move("Old/A b.md", "New/A.md")
    folder.sync()
    reply = get(folder, "Old/A b.md?span=3-9&source=4")
    assert reply.status_code == 301
    assert reply["Location"].endswith("/notes/New/A.md?span=3-9&source=4")
    assert "no-store" in reply["Cache-Control"]
    folder.move("New/A.md", "Newest.md")
    folder.sync()
    for path in ("Old/A b.md", "New/A.md"):
        assert get(folder, path)["Location"].endswith("/notes/Newest.md")


def test_a_note_that_is_there_now_is_shown_whoever_was_there_before(folder: Folder) -> None:
    folder.move("Old/A b.md", "A.md")
    folder.sync()
    folder.write("Old/A b.md", "# New\n\nQuite another text.")
    folder.sync()
    assert get(folder, "Old/A b.md").status_code == 200


def test_of_two_notes_that_left_a_path_the_later_one_is_meant(folder: Folder) -> None:
    folder.move("Old/A b.md", "A.md")
    folder.sync()
    folder.move("B.md", "Old/A b.md")
    folder.sync()
    folder.move("Old/A b.md", "Late.md")
    folder.sync()
    assert get(folder, "Old/A b.md")["Location"].endswith("/notes/Late.md")
    assert FormerPath.objects.filter(path="Old/A b.md").count() == 1


def test_a_note_that_moved_and_was_deleted_is_missing(folder: Folder) -> None:
    folder.move("Old/A b.md", "A.md")
    folder.sync()
    folder.delete("A.md")
    folder.vault.loss_allowed = True
    folder.vault.save()
    folder.sync()
    assert get(folder, "Old/A b.md").status_code == 404
    assert not FormerPath.objects.exists()


def test_strangers_and_closed_folders_get_the_same_as_for_what_never_was(folder: Folder) -> None:
    folder.move("Old/A b.md", "HR/A.md")
    folder.sync()
    assert get(folder, "Old/A b.md", user=make_user("stranger")).status_code == 404
    mate = make_user("limited")
    VaultMember.objects.create(vault=folder.vault, user=mate, hidden_folders=["HR"])
    assert get(folder, "Old/A b.md", user=mate).status_code == 404
    assert get(folder, "B.md", user=mate).status_code == 200
