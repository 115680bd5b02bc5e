"""Health names each part, how it stands, and what mends it."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from providers import circuits
from providers.core.circuit import FAILURES_TO_OPEN
from providers.models import EmbeddingModel, Provider
from providers.presets import load_presets
from providers.registry import default_chat_model
from secondbrain.health import Check, Level, health
from tests.cast import Cast, make_user, make_vault
from vault import heartbeat
from vault.models import Job, Note, Vault

pytestmark = pytest.mark.django_db


def named(name: str) -> Check:
    return next(check for check in health() if check.name == name)


@pytest.fixture(autouse=True)
def no_worker() -> None:
    heartbeat.end()


def test_a_worker_that_gave_a_sign_is_alive_and_one_that_stopped_is_not() -> None:
    assert named("Worker").level is Level.BAD
    assert "manage.py worker" in named("Worker").mend
    heartbeat.beat()
    assert named("Worker").level is Level.OK
    heartbeat.end()
    assert named("Worker").level is Level.BAD


def test_a_job_that_was_given_up_is_shown_with_its_error() -> None:
    assert named("Jobs").level is Level.OK
    Job.objects.create(key="sync:7", kind="sync", state=Job.State.FAILED, last_error="disk is full")
    assert named("Jobs").level is Level.WARNING
    assert "disk is full" in named("Jobs").text


def test_answers_without_a_model_are_a_warning_not_a_fault() -> None:
    load_presets()
    assert named("Answers").level is Level.WARNING
    assert "quotes only" in named("Answers").text
    assert named("Search by meaning").level is Level.OK
    EmbeddingModel.objects.all().delete()
    assert named("Search by meaning").level is Level.WARNING


def test_a_vault_says_how_much_of_it_is_searchable(cast: Cast, tmp_path: Path) -> None:
    Vault.objects.filter(pk=cast.vault.pk).update(place=str(tmp_path))
    for number, status in enumerate([Note.Status.INDEXED, Note.Status.FAILED]):
        Note.objects.create(
            vault=cast.vault,
            path=f"{number}.md",
            title=str(number),
            content_hash="0" * 64,
            status=status,
            file_modified=timezone.now(),
        )
    check = named("Vault Team")
    assert check.level is Level.WARNING
    assert "1 of 2 notes searchable by words" in check.text


def test_a_vault_that_waits_for_an_answer_or_lost_its_folder_is_bad(tmp_path: Path) -> None:
    vault = make_vault("team", owner=make_user("owner"), place=str(tmp_path / "gone"))
    assert named("Vault Team").level is Level.BAD
    assert "is not there" in named("Vault Team").text
    vault.state, vault.pause_reason = Vault.State.PAUSED, "Half of the notes are gone."
    vault.save()
    assert named("Vault Team").text == "Half of the notes are gone."


def test_the_doctor_prints_the_same_and_fails_when_something_is_bad() -> None:
    output = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", stdout=output)
    assert ended.value.code == 1
    assert "BAD   Worker" in output.getvalue()
    assert "→ Start it" in output.getvalue()


def test_the_doctor_speaks_json_and_is_content_when_all_is_well() -> None:
    load_presets()
    heartbeat.beat()
    output = StringIO()
    call_command("doctor", as_json=True, stdout=output)
    found = {check["name"]: check["level"] for check in json.loads(output.getvalue())}
    assert found["Database"] == "ok"
    assert found["Worker"] == "ok"


def test_readiness_names_its_parts_and_does_not_ask_for_a_worker(client: Client) -> None:
    reply = client.get("/readyz")
    assert reply.status_code == 200
    assert reply.json()["ready"] is True
    assert set(reply.json()["checks"]) == {"database", "tables", "extensions"}


def test_the_admin_begins_with_the_state_of_things(client: Client) -> None:
    load_presets()
    client.force_login(make_user("root", is_superuser=True))
    page = client.get("/admin/").content.decode()
    assert "has not answered for a while" in page
    assert "Start it: manage.py worker" in page
    assert page.index("has not answered") < page.index("Providers")


def test_an_account_is_made_with_its_address_alone_and_can_sign_in(client: Client) -> None:
    client.force_login(make_user("root", is_superuser=True))
    fields = {"email": "New@Example.com", "usable_password": "true"}
    fields |= {"password1": "pond seven heron", "password2": "pond seven heron"}
    reply = client.post("/admin/auth/user/add/", fields)
    assert reply.status_code == 302
    again = client.post("/admin/auth/user/add/", fields)
    assert "There is an account with this address already" in again.content.decode()
    client.logout()
    entered = client.post(
        "/accounts/login/", {"login": "new@example.com", "password": "pond seven heron"}
    )
    assert entered.status_code == 302
    assert client.get("/").status_code == 200


def test_no_two_accounts_are_given_one_address(client: Client) -> None:
    client.force_login(make_user("root", is_superuser=True))
    member = make_user("member")
    make_user("owner")
    page = client.get(f"/admin/auth/user/{member.pk}/change/")
    form = page.context["adminform"].form
    fields = {name: form[name].value() or "" for name in form.fields}
    fields["date_joined_0"], fields["date_joined_1"] = "2026-01-01", "12:00:00"
    fields |= dict.fromkeys(("groups", "user_permissions"), "")
    fields = {name: value for name, value in fields.items() if value}
    address = f"/admin/auth/user/{member.pk}/change/"
    taken = client.post(address, fields | {"email": "Owner@Example.com"})
    assert "There is an account with this address already" in taken.content.decode()
    changed = client.post(address, fields | {"email": "Moved@Example.com"})
    assert changed.status_code == 302
    member.refresh_from_db()
    assert member.email == "moved@example.com"


def test_a_provider_that_is_left_alone_is_named_with_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load_presets()
    monkeypatch.setenv("OPENAI_API_KEY", "planted")
    assert named("Answers").level is Level.OK
    assert named("Answers").text.startswith(f"{default_chat_model()} (default)")
    provider = Provider.objects.get(slug="openai")
    for _ in range(FAILURES_TO_OPEN):
        circuits.note_failure(provider, reason="It answered 500.")
    check = named("Answers")
    assert check.level is Level.WARNING
    assert "OpenAI: it failed and is not called until" in check.text
    circuits.note_success(provider)
    assert named("Answers").level is Level.OK
