"""Commands: data on stdout, reasons on stderr, exit codes that scripts can rely on."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from providers.models import EmbeddingModel, Provider
from tests.cast import make_user
from tests.vault.folders import Folder, make_folder
from vault.access import visible_to
from vault.models import Job, Vault
from vault.tasks import request_sync
from vault.tokens import find_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def model() -> EmbeddingModel:
    provider = Provider.objects.create(slug="fake", name="Fake", kind="fake", needs_key=False)
    return EmbeddingModel.objects.create(provider=provider, name="hash", dimensions=64)


@pytest.fixture
def folder(tmp_path: Path, model: EmbeddingModel) -> Folder:
    folder = make_folder(tmp_path / "notes", embedding_model=model)
    folder.write("a.md", "# Apples\n\nOf quorvex.")
    return folder


def run(*arguments: str, **options: Any) -> tuple[str, str]:
    """(stdout, stderr) of a command."""
    out, err = io.StringIO(), io.StringIO()
    call_command(*arguments, stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


class TestAddVault:
    def test_a_folder_becomes_a_vault_of_its_owner_and_is_read_next(
        self, tmp_path: Path, model: EmbeddingModel
    ) -> None:
        owner = make_user("anna")
        out, _err = run("add_vault", str(tmp_path), "--slug", "team", "--owner", "ANNA@example.com")
        vault = visible_to(owner).get()
        assert (vault.slug, vault.place, vault.embedding_model) == ("team", str(tmp_path), model)
        assert out.startswith("team\tadded")
        assert Job.objects.get().key == f"sync:{vault.pk}"

    def test_a_second_time_changes_nothing(self, tmp_path: Path, model: EmbeddingModel) -> None:
        run("add_vault", str(tmp_path), "--slug", "team")
        out, err = run("add_vault", str(tmp_path), "--slug", "team")
        assert "there already" in out
        assert "--owner" in err, "nobody may read it, and that is said"
        assert Vault.objects.count() == 1

    def test_the_first_administrator_owns_it_unless_told_otherwise(
        self, tmp_path: Path, model: EmbeddingModel
    ) -> None:
        admin = make_user("admin", is_superuser=True)
        run("add_vault", str(tmp_path / "."), "--slug", "team")
        assert visible_to(admin).exists()

    @pytest.mark.parametrize(
        ("arguments", "reason"),
        [
            (["missing", "--slug", "x"], "not a folder"),
            ([".", "--slug", "Not A Slug"], "no slug"),
            ([".", "--slug", "x", "--owner", "nobody@example.com"], "nobody@example.com"),
        ],
    )
    def test_what_cannot_be_is_told(
        self, arguments: list[str], reason: str, model: EmbeddingModel
    ) -> None:
        with pytest.raises(CommandError, match=reason):
            run("add_vault", *arguments)
        assert not Vault.objects.exists()

    def test_a_slug_is_not_taken_from_another_folder(
        self, tmp_path: Path, model: EmbeddingModel
    ) -> None:
        run("add_vault", str(tmp_path), "--slug", "team")
        with pytest.raises(CommandError, match="already there"):
            run("add_vault", str(tmp_path.parent), "--slug", "team")


def test_sync_embed_and_wait_need_no_worker(folder: Folder) -> None:
    request_sync(folder.vault.pk)
    out, _err = run("sync", folder.vault.slug)
    assert "1 created" in out
    out, _err = run("embed", folder.vault.slug)
    assert "1 embedded" in out
    out, _err = run("wait_index", timeout=1)
    assert out == "ready\n"


def test_sync_tells_every_doubtful_file_on_stderr(folder: Folder) -> None:
    folder.write("bad.md", "---\nbroken: [\n---\nwords")
    out, err = run("sync")
    assert "warnings" in out
    assert f"{folder.vault.slug}/bad.md:" in err


def test_a_paused_vault_ends_commands_with_its_question(folder: Folder) -> None:
    run("sync")
    folder.delete("a.md")
    for command in ("sync", "wait_index"):
        with pytest.raises(CommandError, match="every note is gone"):
            run(command)


def test_an_unknown_vault_is_named_with_those_that_are_there(folder: Folder) -> None:
    for command in ("sync", "embed", "index_status", "wait_index"):
        with pytest.raises(CommandError, match=folder.vault.slug):
            run(command, "no-such")


def test_waiting_ends_with_what_it_waited_for(folder: Folder) -> None:
    request_sync(folder.vault.pk)
    with pytest.raises(CommandError, match=r"Time is over: .*sync queued.*manage\.py worker"):
        run("wait_index", timeout=0)


def test_waiting_for_what_failed_for_good_ends_with_the_reason(folder: Folder) -> None:
    folder.sync()
    Job.objects.create(
        key=f"embed:{folder.vault.pk}", kind="embed", state="failed", last_error="no key"
    )
    with pytest.raises(CommandError, match=r"1 chunks wait\. no key"):
        run("wait_index", timeout=60)


def test_embed_ends_with_the_number_of_refused_chunks_and_can_retry(
    folder: Folder, model: EmbeddingModel
) -> None:
    model.max_tokens = 60
    model.save()
    folder.write("long.md", "quite long " * 200)
    folder.sync()
    model.max_tokens = 5
    model.save()
    with pytest.raises(CommandError, match="chunks failed"):
        run("embed")
    model.max_tokens = 512
    model.save()
    out, _err = run("embed", "--retry-failed")
    assert " embedded" in out


def test_index_status_is_the_same_for_people_and_scripts(folder: Folder) -> None:
    folder.write("binary.md", bytes(range(256)) * 40)
    run("sync")
    out, _err = run("index_status", folder.vault.slug, "--json")
    data = json.loads(out)["vaults"][0]
    assert data["slug"] == folder.vault.slug
    assert (data["notes"], data["searchable"], data["chunks"], data["pending"]) == (2, 1, 1, 1)
    assert data["problems"][0]["path"] == "binary.md"
    assert data["last_run"]["state"] == "warnings"
    text, _err = run("index_status")
    assert "missing: binary.md: binary file" in text


def test_a_token_is_printed_once_and_stands_for_its_user() -> None:
    user = make_user("anna")
    out, _err = run("create_token", "anna@example.com", "--name", "backup")
    token = find_token(out.strip())
    assert token is not None
    assert (token.user, token.name) == (user, "backup")
    with pytest.raises(CommandError, match=r"nobody@example\.com"):
        run("create_token", "nobody@example.com")


@pytest.mark.parametrize(
    "arguments",
    [
        ("sync", "nobody"),
        ("embed", "nobody"),
        ("index_status", "nobody"),
        ("rescrub", "nobody"),
        ("wait_index", "nobody"),
        ("add_vault", "/no/such/folder"),
        ("add_vault", "/", "--slug", "root", "--owner", "nobody@example.com"),
        ("create_token", "nobody@example.com"),
    ],
    ids=" ".join,
)
def test_what_is_not_there_is_wrong_usage(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError) as error:
        run(*arguments)
    assert error.value.returncode == 2


def test_sync_embed_and_wait_tell_scripts_what_they_did(folder: Folder) -> None:
    folder.write("b.rst", "no note")
    out, err = run("sync", "--json")
    told = json.loads(out)
    assert (told["not_read"], "not_read" in told["counts"]) == ({".rst": 1}, False)
    assert (told["vault"], told["state"], told["error"]) == (folder.vault.slug, "done", "")
    assert (told["counts"]["created"], told["warnings"]) == (1, [])
    assert json.loads(run("embed", "--json")[0]) == {
        "vault": folder.vault.slug, "embedded": 1, "reused": 0, "failed": 0,
    }  # fmt: skip
    Job.objects.all().delete()
    assert json.loads(run("wait_index", "--json")[0])["state"] == "ready"
    assert err == ""


def test_a_paused_vault_is_told_as_json_and_ends_with_one(folder: Folder) -> None:
    run("sync")
    folder.delete("a.md")
    out = io.StringIO()
    with pytest.raises(CommandError) as error:
        call_command("sync", "--json", stdout=out)
    assert error.value.returncode == 1
    assert json.loads(out.getvalue())["state"] == "paused"
