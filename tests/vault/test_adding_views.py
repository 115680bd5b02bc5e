"""The page on which notes become a vault: who sees it, what is refused and with which words."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client

from tests.cast import Cast, make_user, make_vault
from tests.vault.core.rendering.page import Page
from vault.adding import CannotAdd, add_another_vault, add_vault, doubts_about, folder_at
from vault.locks import Work, wait_in_line
from vault.models import Job, Vault, VaultMember

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(db: None) -> Client:
    client = Client()
    client.force_login(make_user("staff", is_superuser=True))
    return client


def field(response: Any, name: str) -> dict[str, str]:
    inputs = Page(response.content.decode()).all("input")
    return next(found for found in inputs if found.get("name") == name)


def test_readers_and_strangers_add_nothing(cast: Cast, client: Client) -> None:
    assert client.get("/vaults/new").status_code == 302
    client.force_login(cast.mate)
    assert client.get("/vaults/new").status_code == 403
    assert "Add a vault" not in client.get("/vaults/").content.decode()


def test_an_editor_sees_the_ways_that_are_theirs(cast: Cast, client: Client) -> None:
    client.force_login(cast.owner)
    html = client.get("/vaults/new").content.decode()
    assert "Upload notes" in html
    assert "Follow a git repository" in html
    assert "Read a folder" not in html
    assert client.post("/vaults/folder", {"folder": "/srv"}).status_code == 403


def test_a_folder_becomes_a_vault_of_whoever_named_it(staff: Client, tmp_path: Path) -> None:
    (tmp_path / "Field notes").mkdir()
    (tmp_path / "Field notes" / "a.md").write_text("# A")
    response = staff.post("/vaults/folder", {"folder": f" {tmp_path}/Field notes/ ", "name": ""})
    assert response["Location"] == "/vaults/field-notes/"
    vault = Vault.objects.get()
    assert (vault.name, vault.place) == ("Field notes", str(tmp_path / "Field notes"))
    assert VaultMember.objects.get().role == "owner"
    assert Job.objects.get().kind == "sync"
    assert "is being read" in staff.get("/vaults/field-notes/").content.decode()


def test_a_folder_that_is_no_place_for_notes_is_refused(staff: Client, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A")
    for folder, said in (
        ("/nonexistent/notes", "it is not there"),
        (str(tmp_path / "a.md"), "it is a file"),
        ("", "required"),
    ):
        response = staff.post("/vaults/folder", {"folder": folder, "name": "Kept"})
        assert response.status_code == 400
        assert said in response.content.decode()
        assert field(response, "folder")["aria-invalid"] == "true"
        assert 'value="Kept"' in response.content.decode()
    assert not Vault.objects.exists()


def test_a_folder_that_may_not_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_arguments: False)  # root reads everything
    with pytest.raises(CannotAdd, match="cannot be read by the user"):
        folder_at(tmp_path)


@pytest.mark.parametrize("text", ["a\0b", "x" * 5000, "~nobody-of-this-name/notes"])
def test_a_path_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(CannotAdd):
        folder_at(text)


def test_a_folder_of_two_vaults_is_taken_with_a_word_about_it(
    staff: Client, tmp_path: Path
) -> None:
    outer = make_vault("outer", owner=make_user("anna"), place=str(tmp_path))
    (tmp_path / "in").mkdir()
    said = staff.post("/vaults/folder", {"folder": str(tmp_path / "in")}, follow=True)
    html = said.content.decode()
    assert f"“Outer” reads {tmp_path} as well" in html
    assert "There is nothing in this folder yet" in html
    assert len(doubts_about(outer)) == 1


@pytest.mark.parametrize(
    ("sent", "name", "said"),
    [
        ({"address": "git@example.com:a/b.git"}, "address", "over ssh"),
        ({"address": "https://user:pw@example.com/a.git"}, "address", "Leave user and password"),
        ({"address": "notes"}, "address", "Write it like this"),
        ({"address": "https://example.com/a.git", "token_variable": "PATH"}, "token_variable",
         "GIT_TOKEN"),
    ],
)  # fmt: skip
def test_a_repository_that_cannot_be_is_refused_where_it_is_wrong(
    staff: Client, sent: dict[str, Any], name: str, said: str
) -> None:
    response = staff.post("/vaults/connect", {**sent, "branch": "kept"})
    assert response.status_code == 400
    assert said in response.content.decode()
    assert field(response, name)["aria-invalid"] == "true"
    assert field(response, "branch")["value"] == "kept"


def somebody_waits(work: Work) -> bool:
    waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND classid = %s"
    with connection.cursor() as cursor:
        cursor.execute(waiting, [int(work)])
        return cursor.fetchone() is not None


@pytest.mark.parametrize(
    ("add", "slugs"),
    [
        (add_another_vault, ["notes", "notes-2"]),
        (add_vault, ["notes"]),
    ],
    ids=["by the page", "by the command"],
)
def test_of_two_that_are_added_at_once_the_second_sees_the_first(
    transactional_db: None, tmp_path: Path, add: Callable[[Any], Any], slugs: list[str]
) -> None:
    (tmp_path / "notes").mkdir()
    place = folder_at(tmp_path / "notes")
    failed: list[Exception] = []

    def other() -> None:
        try:
            add(place)
        except Exception as error:  # noqa: BLE001 (told below, in the thread that reports)
            failed.append(error)
        finally:
            connection.close()

    thread = Thread(target=other)
    with transaction.atomic():
        wait_in_line(Work.NAMING)
        thread.start()
        until = time.monotonic() + 60
        while not somebody_waits(Work.NAMING):
            assert thread.is_alive(), failed
            assert time.monotonic() < until
        add(place)
    thread.join()
    assert failed == []
    assert sorted(Vault.objects.values_list("slug", flat=True)) == slugs
