"""A vault that follows a branch of a git repository, over a real server on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from dulwich.repo import Repo
from pytest_django import Settings

from tests.cast import Cast
from tests.git_server import SUBMODULE, SYMBOLIC_LINK, GitServer, git_server
from vault import pictures
from vault.adding import CannotAdd, add_vault, place_of
from vault.git import fetching
from vault.git.listing import LIST_FILE
from vault.models import Job, Note, SettingsFile, SyncRun, Vault
from vault.run_rows import not_read_of
from vault.sources import source_of, trouble_with
from vault.sources.git import clone_place
from vault.sync import answer_pause, sync_vault

pytestmark = pytest.mark.django_db

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12\n"


@pytest.fixture
def server(tmp_path: Path, settings: Settings) -> Iterator[GitServer]:
    settings.DATA_DIR = tmp_path / "data"
    with git_server(tmp_path / "served") as served:
        settings.ALLOWED_PRIVATE_ENDPOINTS = [urlsplit(served.url).netloc]
        yield served


def follow(server: GitServer, **fields: str) -> Vault:
    vault, _new = add_vault(place_of(server.url, **fields), slug="notes")
    return vault


def paths(vault: Vault) -> list[str]:
    return list(Note.objects.filter(vault=vault).values_list("path", flat=True))


def bound(monkeypatch: pytest.MonkeyPatch, **bounds: Any) -> None:
    """Let a repository cost less than it may."""
    monkeypatch.setattr(fetching, "BOUNDS", replace(fetching.BOUNDS, **bounds))


def _clone(vault: Vault) -> Path:
    return clone_place(vault.pk)


def test_a_branch_is_read_and_later_commits_touch_only_what_they_changed(
    server: GitServer,
) -> None:
    server.commit({"a.md": "# Apples", "sub/b.md": "# Pears\n\n[[a]]", "c.txt": "no note"})
    vault = follow(server)
    run = sync_vault(vault.pk)
    assert (run.state, run.error) == (SyncRun.State.DONE, "")
    assert paths(vault) == ["a.md", "sub/b.md"]
    assert not_read_of(run) == {".txt": 1}
    before = {note.path: note for note in Note.objects.filter(vault=vault)}
    server.commit({"a.md": "# Apricot", "sub/b.md": "# Pears\n\n[[a]]", "d.md": "# New"})
    run = sync_vault(vault.pk)
    assert (run.counts["updated"], run.counts["created"], run.counts["hashed"]) == (1, 1, 2)
    after = {note.path: note for note in Note.objects.filter(vault=vault)}
    assert after["a.md"].title == "Apricot"
    assert after["a.md"].pk == before["a.md"].pk
    assert after["sub/b.md"].file_modified == before["sub/b.md"].file_modified


def test_nothing_new_is_one_question_to_the_server_and_reads_no_file(server: GitServer) -> None:
    server.commit({"a.md": "words"})
    vault = follow(server)
    sync_vault(vault.pk)
    server.asked.clear()
    run = sync_vault(vault.pk)
    assert (run.counts["changes"], "hashed" in run.counts) == (0, False)
    assert not [asked for asked in server.asked if asked.startswith("POST") and "pack" not in asked]
    assert len(server.asked) <= 2


def test_a_moved_file_and_a_deleted_one_are_seen(server: GitServer) -> None:
    server.commit({"a.md": "one of its kind", "b.md": "another", "c.md": "third"})
    vault = follow(server)
    sync_vault(vault.pk)
    kept = Note.objects.get(vault=vault, path="a.md").pk
    server.commit({"new/a.md": "one of its kind", "c.md": "third"})
    run = sync_vault(vault.pk)
    assert (run.counts["moved"], run.counts["deleted"]) == (1, 1)
    assert Note.objects.get(vault=vault, path="new/a.md").pk == kept


def test_only_a_shallow_clone_is_made(server: GitServer) -> None:
    for number in range(5):
        server.commit({"a.md": f"version {number}"})
    vault = follow(server)
    sync_vault(vault.pk)
    with closing(Repo(str(_clone(vault)))) as clone:
        assert len(clone.get_shallow()) == 1
        assert len(list(clone.object_store)) == 3


def test_another_branch_may_be_chosen(server: GitServer) -> None:
    server.commit({"a.md": "of main"})
    server.commit({"b.md": "of drafts"}, branch="drafts")
    vault = follow(server, branch="drafts")
    sync_vault(vault.pk)
    assert paths(vault) == ["b.md"]
    Vault.objects.filter(pk=vault.pk).update(git_branch="", loss_allowed=True)
    sync_vault(vault.pk)
    assert paths(vault) == ["a.md"]


def test_a_vanished_branch_pauses_the_vault_and_names_those_there_are(server: GitServer) -> None:
    server.commit({"a.md": "of main"})
    server.commit({"b.md": "of drafts"}, branch="drafts")
    vault = follow(server, branch="drafts")
    sync_vault(vault.pk)
    server.drop("drafts")
    run = sync_vault(vault.pk)
    assert run.state == SyncRun.State.PAUSED
    assert "no branch “drafts”. It has: main" in run.error
    assert paths(vault) == ["b.md"]


def test_a_rewritten_history_asks_before_it_is_taken(server: GitServer) -> None:
    server.commit({"a.md": "first", "b.md": "second"})
    vault = follow(server)
    sync_vault(vault.pk)
    server.commit({"a.md": "rewritten"}, is_rewritten=True)
    run = sync_vault(vault.pk)
    assert run.state == SyncRun.State.PAUSED
    assert "was rewritten" in run.error
    assert Note.objects.get(vault=vault, path="a.md").body == "first"
    answer_pause(vault.pk, delete=False)
    assert sync_vault(vault.pk).state == SyncRun.State.PAUSED
    answer_pause(vault.pk, delete=True)
    assert sync_vault(vault.pk).state == SyncRun.State.DONE
    assert paths(vault) == ["a.md"]
    assert Note.objects.get(vault=vault).body == "rewritten"
    server.commit({"a.md": "an ordinary commit"})
    assert sync_vault(vault.pk).state == SyncRun.State.DONE


def test_more_commits_than_a_fetch_looks_back_are_no_rewriting(
    server: GitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound(monkeypatch, depths=(2, 20))
    server.commit({"a.md": "first"})
    vault = follow(server)
    sync_vault(vault.pk)
    for number in range(6):
        server.commit({"a.md": f"version {number}"})
    assert sync_vault(vault.pk).state == SyncRun.State.DONE
    assert Note.objects.get(vault=vault).body == "version 5"


def test_packs_of_many_fetches_become_one_again(
    server: GitServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound(monkeypatch, packs=2)
    vault = follow(server)
    for number in range(5):
        server.commit({"a.md": f"version {number}", "same.md": "same"})
        sync_vault(vault.pk)
        assert len(list((_clone(vault) / "objects" / "pack").glob("*.pack"))) <= 2
    assert sync_vault(vault.pk, full=True).state == SyncRun.State.DONE


def test_links_and_submodules_are_named_and_lfs_pointers_listed(server: GitServer) -> None:
    others = {
        "link.md": (SYMBOLIC_LINK, b"/etc/passwd"),
        "library": (SUBMODULE, b"a" * 40),
    }
    server.commit({"a.md": "words", "stored.md": LFS}, others=others)
    vault = follow(server)
    run = sync_vault(vault.pk)
    reasons = {row["path"]: row["reason"] for row in run.warnings}
    assert "symbolic link" in reasons["link.md"]
    assert "submodule" in reasons["library"]
    assert "LFS" in reasons["stored.md"]
    stored = Note.objects.get(vault=vault, path="stored.md")
    assert (stored.status, stored.body) == (Note.Status.EXCLUDED, "")


def test_the_ignore_file_of_the_branch_holds(server: GitServer) -> None:
    files = {"a.md": "words", "private/b.md": "hidden", ".brainignore": "private/\n"}
    server.commit({**files, ".obsidian/x.md": "settings", "p.png": PNG, "private/q.png": PNG})
    vault = follow(server)
    sync_vault(vault.pk)
    assert "private/b.md" not in paths(vault)
    assert ".obsidian/x.md" not in paths(vault)
    assert pictures.read_picture(vault, "p.png") == (PNG, "image/png")
    assert pictures.read_picture(vault, "private/q.png") is None
    assert pictures.read_picture(vault, "a.md") is None
    assert source_of(vault).pictures() == ("p.png",)


def test_a_vaults_own_settings_files_are_read_and_are_no_notes(server: GitServer) -> None:
    persona = "---\nname: Reviewer\n---\nBe strict."
    server.commit({"a.md": "words", ".claude/agents/reviewer.md": persona})
    vault = follow(server)
    sync_vault(vault.pk)
    assert paths(vault) == ["a.md"]
    assert SettingsFile.objects.get(vault=vault).path == ".claude/agents/reviewer.md"


def test_odd_names_are_kept_apart(server: GitServer) -> None:
    server.commit({"bad\udcff.md": "odd bytes", "deep/er/note.md": "deep"})
    vault = follow(server)
    run = sync_vault(vault.pk)
    assert paths(vault) == ["bad\\xff.md", "deep/er/note.md"]
    assert [row["reason"] for row in run.warnings] == ["The file name is not valid UTF-8."]


class TestToken:
    """The token of a private repository."""

    def test_it_is_read_from_the_environment_and_sent_to_the_server_alone(
        self, server: GitServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        server.password = "oauth2:s3cr3t-token"
        server.commit({"a.md": "words"})
        monkeypatch.setenv("GIT_TOKEN_NOTES", "s3cr3t-token")
        vault = follow(server, token_variable="GIT_TOKEN_NOTES")
        assert sync_vault(vault.pk).state == SyncRun.State.DONE
        assert paths(vault) == ["a.md"]
        stored = " ".join(
            path.read_bytes().decode("latin-1")
            for path in _clone(vault).rglob("*")
            if path.is_file()
        )
        assert "s3cr3t" not in stored
        assert "s3cr3t" not in repr(source_of(vault))

    def test_without_it_the_run_says_what_is_missing_and_the_vault_goes_on_later(
        self, server: GitServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        server.password = "anna:s3cr3t-token"
        server.commit({"a.md": "words"})
        monkeypatch.delenv("GIT_TOKEN_NOTES", raising=False)
        vault = follow(server, token_variable="GIT_TOKEN_NOTES")
        assert "GIT_TOKEN_NOTES is not set" in trouble_with(vault)
        run = sync_vault(vault.pk)
        assert run.state == SyncRun.State.FAILED
        assert "valid token" in run.error
        monkeypatch.setenv("GIT_TOKEN_NOTES", "anna:s3cr3t-token")
        assert sync_vault(vault.pk).state == SyncRun.State.DONE
        assert not trouble_with(vault)


class TestTrouble:
    """A server that cannot be reached changes nothing and is asked again."""

    def test_a_server_that_is_down(self, server: GitServer) -> None:
        server.commit({"a.md": "words"})
        vault = follow(server)
        sync_vault(vault.pk)
        server.is_down = True
        run = sync_vault(vault.pk)
        assert (run.state, paths(vault)) == (SyncRun.State.FAILED, ["a.md"])
        assert "503" in run.error
        server.is_down = False
        assert sync_vault(vault.pk).state == SyncRun.State.DONE

    def test_nobody_listens(self, server: GitServer, settings: Settings) -> None:
        settings.ALLOWED_PRIVATE_ENDPOINTS = ["127.0.0.1:9"]
        vault = follow(server)
        Vault.objects.filter(pk=vault.pk).update(place="https://notes.invalid/notes.git")
        run = sync_vault(vault.pk)
        assert run.state == SyncRun.State.FAILED
        assert "notes.invalid" in run.error

    def test_no_such_repository(self, server: GitServer) -> None:
        vault = follow(server)
        Vault.objects.filter(pk=vault.pk).update(place=server.url.replace("notes.git", "other"))
        assert "has no repository at" in sync_vault(vault.pk).error

    def test_an_empty_repository(self, server: GitServer) -> None:
        assert "no commits" in sync_vault(follow(server).pk).error

    def test_a_redirect_is_not_followed(self, server: GitServer) -> None:
        server.redirects_to = "http://169.254.169.254/"
        run = sync_vault(follow(server).pk)
        assert "redirects to another address" in run.error
        assert len(server.asked) == 1

    def test_a_private_place_is_called_only_when_the_settings_name_it(
        self, server: GitServer, settings: Settings
    ) -> None:
        settings.ALLOWED_PRIVATE_ENDPOINTS = []
        vault = follow(server)
        assert "ALLOWED_PRIVATE_ENDPOINTS" in sync_vault(vault.pk).error
        secure = server.url.replace("http:", "https:")
        Vault.objects.filter(pk=vault.pk).update(place=secure)
        assert "private address" in sync_vault(vault.pk).error
        assert server.asked == []

    def test_a_repository_that_sends_too_much(
        self, server: GitServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        server.commit({"a.md": "words"})
        bound(monkeypatch, data=100)
        assert "too large" in sync_vault(follow(server).pk).error

    def test_a_clone_that_was_damaged_is_fetched_anew_from_nothing(self, server: GitServer) -> None:
        server.commit({"a.md": "words"})
        vault = follow(server)
        sync_vault(vault.pk)
        (_clone(vault) / LIST_FILE).write_text("no list")
        run = sync_vault(vault.pk)
        assert (run.state, run.counts["changes"]) == (SyncRun.State.DONE, 0)


def test_the_clone_of_a_deleted_vault_is_removed_with_the_next_scan(server: GitServer) -> None:
    server.commit({"a.md": "words"})
    gone = follow(server)
    sync_vault(gone.pk)
    place = _clone(gone)
    gone.delete()
    sync_vault(follow(server).pk)
    assert not place.exists()


class TestAdding:
    """A repository by command and by page."""

    def test_the_same_address_twice_is_one_vault(self, server: GitServer) -> None:
        first, second = follow(server), follow(server)
        assert first == second
        assert (first.source_kind, first.place) == (Vault.SourceKind.GIT, server.url)

    @pytest.mark.parametrize(
        ("address", "words"),
        [
            ("git@git.example.com:team/notes.git", "not read over ssh"),
            ("ssh://git.example.com/notes.git", "not read over ssh"),
            ("file:///srv/notes.git", "is a folder"),
            ("git://git.example.com/notes.git", "neither encrypted"),
            ("https://anna:pass@git.example.com/notes.git", "GIT_TOKEN_"),
            ("ftp://git.example.com/notes.git", "Write it like this"),
        ],
    )
    def test_other_ways_are_refused_with_the_mend(self, address: str, words: str) -> None:
        with pytest.raises(CannotAdd, match=words):
            place_of(address)

    def test_only_variables_for_tokens_may_be_named(self, server: GitServer) -> None:
        with pytest.raises(CannotAdd, match="GIT_TOKEN"):
            follow(server, token_variable="SECRET_KEY")

    def test_a_folder_has_no_branch(self, tmp_path: Path) -> None:
        with pytest.raises(CannotAdd, match="Only a git repository"):
            place_of(tmp_path, branch="main")

    def test_an_editor_follows_a_repository_but_names_no_token(
        self, cast: Cast, client: Client
    ) -> None:
        client.force_login(cast.owner)
        asked = {"address": "https://git.example.com/team/notes.git", "token_variable": "GIT_TOKEN"}
        answer = client.post("/vaults/connect", asked)
        made = Vault.objects.get(place=asked["address"])
        assert answer.headers["Location"] == f"/vaults/{made.slug}/"
        assert (made.token_variable, made.name) == ("", "notes")
        assert Job.objects.filter(vault=made, kind="sync").exists()

    def test_staff_may_name_a_token(self, cast: Cast, client: Client) -> None:
        cast.owner.is_staff = True
        cast.owner.save()
        client.force_login(cast.owner)
        asked = {"address": "https://git.example.com/x.git", "token_variable": "GIT_TOKEN_X"}
        client.post("/vaults/connect", asked)
        assert Vault.objects.get(place=asked["address"]).token_variable == "GIT_TOKEN_X"

    def test_a_refusal_keeps_what_was_typed_and_says_why(self, cast: Cast, client: Client) -> None:
        client.force_login(cast.owner)
        answer = client.post("/vaults/connect", {"address": "git@example.com:x.git"})
        html = answer.content.decode()
        assert answer.status_code == 400
        assert "not read over ssh" in html
        assert 'value="git@example.com:x.git"' in html
