"""Lists ask the database as often for many rows as for a few."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.cast import make_user, make_vault
from tests.vault.notes import make_note
from vault.access import scope_for
from vault.facts import NewFact, add_fact
from vault.models import Job, LexicalCorpus, SyncRun, Vault, VaultMember
from vault.status import MOST_TOGETHER, vault_status, vault_statuses
from vault.tokens import create_token

FEW, MANY = 2, 12
# Statements that one more row may cost: counts of a vault stand under a limit of time each.
PAGES = {
    "/vaults/": 0,
    "/api/vaults": 0,
    "/vaults/vault-0/": 0,
    "/vaults/vault-0/runs": 0,
    "/vaults/vault-0/problems": 0,
    "/api/vaults/vault-0/facts": 0,
    "/api/index/status": 0,
    "/admin/": 0,
    "/admin/vault/vault/": 5,
    "/admin/vault/job/": 0,
    "/admin/vault/syncrun/": 0,
    "/admin/vault/apitoken/": 0,
    "/admin/auth/user/": 0,
}

pytestmark = pytest.mark.django_db


def add_rows(owner: User, start: int, stop: int) -> None:
    """More of everything that these pages list."""
    for number in range(start, stop):
        vault = make_vault(f"vault-{number}", owner=owner)
        first = Vault.objects.get(slug="vault-0")
        Vault.objects.update(keeps_facts=True)
        first.refresh_from_db()
        user = make_user(f"user{number}")
        VaultMember.objects.create(vault=first, user=user)
        create_token(user, name="script")
        for each in {vault, first}:
            SyncRun.objects.create(vault=each, counts={"changes": 1}, state="done")
        Job.objects.create(kind="sync", key=f"sync:{number}", vault=vault, state="done")
        note = make_note(first, f"{number}.md", "words", status="failed", reason="binary")
        add_fact(first, NewFact("A fact.", "a program", note), author=user)


def test_a_list_of_many_rows_asks_no_more_than_one_of_a_few(client: Client) -> None:
    root = make_user("root", is_superuser=True)
    client.force_login(root)
    asked: dict[str, list[int]] = {page: [] for page in PAGES}
    for start, stop in ((0, FEW), (FEW, MANY)):
        add_rows(root, start, stop)
        for page, counts in asked.items():
            with CaptureQueriesContext(connection) as queries:
                assert client.get(page).status_code == 200, page
            counts.append(len(queries))
    more = {page: (many - few) / (MANY - FEW) for page, (few, many) in asked.items()}
    assert {page: each for page, each in more.items() if each > PAGES[page]} == {}


def test_the_status_of_any_number_of_vaults_is_a_few_statements(client: Client) -> None:
    root = make_user("root", is_superuser=True)
    client.force_login(root)
    add_rows(root, 0, MANY)
    with CaptureQueriesContext(connection) as queries:
        rows = client.get("/api/index/status").json()["vaults"]
    assert len(rows) == MANY
    assert len(queries) <= 40
    vaults = list(Vault.objects.present())
    scope = scope_for(root)
    assert vault_statuses(vaults, scope=scope) == [
        vault_status(vault, scope=scope) for vault in vaults
    ]


def test_large_vaults_are_looked_at_in_parts(client: Client) -> None:
    root = make_user("root", is_superuser=True)
    add_rows(root, 0, 3)
    vaults = list(Vault.objects.present())
    scope = scope_for(root)
    with CaptureQueriesContext(connection) as once:
        together = vault_statuses(vaults, scope=scope)
    for vault in vaults:
        LexicalCorpus.objects.create(
            vault=vault, text_config="english", chunks=MOST_TOGETHER, average_length=9
        )
    with CaptureQueriesContext(connection) as parts:
        assert vault_statuses(vaults, scope=scope) == together
    assert len(parts) > 2 * len(once)
    assert vault_statuses([], scope=scope) == []
