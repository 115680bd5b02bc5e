"""The admin: shows what became of files, edits only what is configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from auditlog.models import LogEntry
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from django_q.models import OrmQ, Schedule, Success

from tests.cast import make_user
from tests.vault.folders import Folder, make_folder
from vault import jobs
from vault.models import (
    ApiToken,
    Chunk,
    Job,
    Link,
    Note,
    ScrubFinding,
    SizeTrial,
    SyncRun,
    Vault,
    VaultMember,
)
from vault.tokens import create_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    folder = make_folder(tmp_path / "notes")
    folder.write("a.md", "# Apples\n\ntoken: ghp_" + "a1B2" * 9)
    folder.sync()
    return folder


@pytest.fixture
def administrator() -> Client:
    client = Client()
    client.force_login(make_user("admin", is_superuser=True))
    return client


def act(client: Client, table: str, action: str, *rows: int) -> None:
    answer = client.post(
        reverse(f"admin:vault_{table}_changelist"),
        {"action": action, "_selected_action": list(rows)},
    )
    assert answer.status_code == 302


@pytest.mark.parametrize("table", ["vault", "syncrun", "job", "apitoken"])
def test_every_table_can_be_looked_at(table: str, folder: Folder, administrator: Client) -> None:
    user = make_user("anna")
    create_token(user)
    jobs.want("sync", key="k", vault_id=folder.vault.pk)
    answer = administrator.get(reverse(f"admin:vault_{table}_changelist"))
    assert answer.status_code == 200
    rows = {
        "vault": Vault,
        "syncrun": SyncRun,
        "job": Job,
        "apitoken": ApiToken,
    }
    first = rows[table]._default_manager.first()
    assert first is not None
    page = administrator.get(reverse(f"admin:vault_{table}_change", args=[first.pk]))
    assert page.status_code == 200
    if isinstance(first, ApiToken):
        assert first.digest not in page.content.decode()


@pytest.mark.parametrize("table", ["syncrun", "job"])
def test_what_follows_from_files_is_not_edited_by_hand(
    table: str, folder: Folder, administrator: Client
) -> None:
    assert administrator.get(reverse(f"admin:vault_{table}_add")).status_code == 403


def test_notes_and_where_secrets_stood_are_not_in_the_admin() -> None:
    """Being staff gives no right to read a vault."""
    for model in (Note, Chunk, Link, ScrubFinding):
        assert not admin.site.is_registered(model)


def test_a_syncs_row_names_no_file(folder: Folder, administrator: Client) -> None:
    run = SyncRun.objects.create(
        vault=folder.vault, warnings=[{"path": "hush.md", "reason": "odd", "line": 1}]
    )
    page = administrator.get(reverse("admin:vault_syncrun_change", args=[run.pk]))
    assert page.status_code == 200
    assert "hush.md" not in page.content.decode()


def test_the_queues_own_pages_are_not_there() -> None:
    for model in (OrmQ, Schedule, Success):
        assert not admin.site.is_registered(model)


def test_sync_and_embed_actions_tell_the_worker(folder: Folder, administrator: Client) -> None:
    act(administrator, "vault", "sync_now", folder.vault.pk)
    act(administrator, "vault", "embed_now", folder.vault.pk)
    assert set(Job.objects.values_list("kind", flat=True)) == {"sync", "embed"}


@pytest.mark.parametrize(("action", "deletes"), [("resume", False), ("resume_and_delete", True)])
def test_a_paused_vaults_question_is_answered(
    action: str, *, deletes: bool, folder: Folder, administrator: Client
) -> None:
    folder.delete("a.md")
    folder.sync()
    act(administrator, "vault", action, folder.vault.pk)
    folder.vault.refresh_from_db()
    assert folder.vault.state == Vault.State.ACTIVE
    assert folder.vault.loss_allowed is deletes
    folder.sync()
    assert Note.objects.exists() is not deletes


def test_a_vault_is_paused_read_again_and_scrubbed_by_actions(
    folder: Folder, administrator: Client
) -> None:
    folder.write("a.md", "# A")
    folder.sync()
    act(administrator, "vault", "read_again", folder.vault.pk)
    assert folder.note("a.md").indexed_hash == ""
    Note.objects.update(body="key ghp_" + "Ab3" * 12)
    act(administrator, "vault", "rescrub", folder.vault.pk)
    job = Job.objects.get(kind="rescrub")
    assert jobs.run(job.pk)
    assert "ghp_" not in folder.note("a.md").body
    act(administrator, "vault", "pause", folder.vault.pk)
    folder.vault.refresh_from_db()
    assert (folder.vault.state, folder.vault.pause_reason) == (
        "paused",
        "An administrator paused it.",
    )
    assert folder.sync().state == "paused"
    act(administrator, "vault", "resume", folder.vault.pk)
    folder.vault.refresh_from_db()
    assert folder.vault.state == "active"


def test_folders_of_a_member_are_brought_into_the_form_of_paths(folder: Folder) -> None:
    member = VaultMember(vault=folder.vault, only_folders=["/HR/", "A\\B"])
    member.clean()
    assert (member.only_folders, member.hidden_folders) == (["HR", "A/B"], [])
    member.hidden_folders = ["../up"]
    with pytest.raises(ValidationError, match="no folder of the vault"):
        member.clean()


def test_a_dead_job_is_retried(folder: Folder, administrator: Client) -> None:
    dead = Job.objects.create(key="k", kind="sync", vault=folder.vault, state=Job.State.FAILED)
    act(administrator, "job", "retry", dead.pk)
    assert Job.objects.get(key="k").state == Job.State.QUEUED


def test_who_changed_a_vault_is_kept(folder: Folder, administrator: Client) -> None:
    page = reverse("admin:vault_vault_change", args=[folder.vault.pk])
    form = administrator.get(page).context["adminform"].form
    data = {name: form[name].value() or "" for name in form.fields}
    inline = {
        f"{name}-{count}_FORMS": 0
        for name in ("members", "enrichment")
        for count in ("TOTAL", "INITIAL")
    }
    answer = administrator.post(page, {**data, **inline, "name": "Another name"})
    assert answer.status_code == 302, answer.context and answer.context["errors"]
    entry = LogEntry.objects.get_for_object(folder.vault).first()
    assert entry is not None
    assert entry.changes_dict["name"][1] == "Another name"
    assert Job.objects.filter(kind="sync").exists(), "other settings are applied by a sync"


def test_a_vault_is_deleted_in_steps_and_can_be_brought_back(
    folder: Folder, administrator: Client
) -> None:
    row = folder.vault.pk
    url = reverse("admin:vault_vault_delete", args=[row])
    assert administrator.get(url).status_code == 200
    assert administrator.post(url, {"post": "yes"}).status_code == 302
    assert Vault.objects.get(pk=row).state == Vault.State.DELETED
    assert Job.objects.filter(kind="remove").exists()
    act(administrator, "vault", "bring_back", row)
    assert Vault.objects.get(pk=row).state == Vault.State.ACTIVE
    answer = administrator.post(
        reverse("admin:vault_vault_changelist"),
        {"action": "delete_selected", "_selected_action": [row], "post": "yes"},
    )
    assert answer.status_code == 302
    assert Vault.objects.get(pk=row).state == Vault.State.DELETED
    assert Note.objects.filter(vault_id=row).exists()


def change_form(vault: Vault, administrator: Client) -> tuple[str, dict[str, Any]]:
    """The address of a vault's change page, and what it sends when nothing was changed."""
    url = reverse("admin:vault_vault_change", args=[vault.pk])
    form = administrator.get(url).context["adminform"].form
    sent = {name: form[name].value() or "" for name in form.fields}
    for prefix in ("members", "enrichment"):
        sent |= {f"{prefix}-TOTAL_FORMS": "0", f"{prefix}-INITIAL_FORMS": "0"}
    return url, sent


def test_sizes_of_passages_that_find_less_are_saved_when_somebody_insists(
    folder: Folder, administrator: Client
) -> None:
    figures = {"before": {"ndcg_10": 0.9}, "after": {"ndcg_10": 0.7}, "questions": 8}
    SizeTrial.objects.create(
        vault=folder.vault,
        state=SizeTrial.State.DONE,
        before_tokens=400,
        before_overlap=60,
        before_minimum=60,
        after_tokens=90,
        after_overlap=0,
        after_minimum=0,
        report={**figures, "is_worse": True},
    )
    url, sent = change_form(folder.vault, administrator)
    assert "find less" not in administrator.get(url).content.decode()
    typed = sent | {"chunk_tokens": 90, "chunk_overlap": 0, "chunk_minimum": 0}
    page = administrator.post(url, typed).content.decode()
    assert "nDCG@10 0.900 → 0.700 over 8 golden questions. Nothing was saved yet." in page
    assert 'name="save_although_worse"' in page
    assert Vault.objects.get(pk=folder.vault.pk).chunk_tokens == 400
    assert administrator.post(url, typed | {"save_although_worse": "on"}).status_code == 302
    assert Vault.objects.get(pk=folder.vault.pk).chunk_tokens == 90


def test_the_slug_stays_and_a_pattern_that_is_none_is_refused(
    folder: Folder, administrator: Client
) -> None:
    url, sent = change_form(folder.vault, administrator)
    assert "slug" not in sent
    answer = administrator.post(url, sent | {"ignored": "good/\n!"})
    assert "Line 2" in answer.content.decode()
    assert administrator.post(url, sent | {"ignored": "good/"}).status_code == 302
    assert Vault.objects.get(pk=folder.vault.pk).ignored == "good/"


def test_a_job_says_whose_it_is_and_how_far(folder: Folder, administrator: Client) -> None:
    job = jobs.want("embed", key="embed:1", vault_id=folder.vault.pk)
    Job.objects.filter(pk=job.pk).update(progress={"done": 1234, "total": 5678})
    html = administrator.get(reverse("admin:vault_job_changelist")).content.decode()
    assert "1234 of 5678" in html
    assert folder.vault.name in html
