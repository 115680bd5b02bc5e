"""What a new install gets, and that a second start changes nothing."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.management.base import CommandError
from pytest_django.fixtures import Settings

from secondbrain import first_start
from vault.models import Vault, VaultMember


@pytest.mark.django_db
def test_the_first_administrator_gets_a_password_that_works() -> None:
    admin = first_start.ensure_admin(email="admin@localhost", password="")
    assert admin.generated_password is not None
    assert len(admin.generated_password) >= 12
    user = authenticate(username="admin@localhost", password=admin.generated_password)
    assert user is not None
    assert user.is_superuser


@pytest.mark.django_db
def test_a_second_start_leaves_the_administrator_alone() -> None:
    first_start.ensure_admin(email="admin@localhost", password="first password given")
    again = first_start.ensure_admin(email="other@localhost", password="something else here")
    assert again.email == "admin@localhost"
    assert again.generated_password is None
    assert User.objects.count() == 1
    assert authenticate(username="admin@localhost", password="first password given")


@pytest.mark.django_db
def test_a_folder_becomes_a_vault_once(tmp_path: Path) -> None:
    first_start.ensure_admin(email="admin@localhost", password="first password given")
    (tmp_path / "Team notes").mkdir()
    first = first_start.ensure_vault(tmp_path / "Team notes", owner="admin@localhost")
    again = first_start.ensure_vault(tmp_path / "Team notes", owner="admin@localhost")
    assert first == again
    assert first.slug == "team-notes"
    member = VaultMember.objects.get(vault=first)
    assert member.role == VaultMember.Role.OWNER
    Vault.objects.update(state=Vault.State.DELETED)
    anew = first_start.ensure_vault(tmp_path / "Team notes", owner="admin@localhost")
    assert (anew.slug, anew.state) == ("team-notes-2", Vault.State.ACTIVE)


@pytest.mark.django_db
def test_two_folders_of_one_name_get_slugs_of_their_own(tmp_path: Path) -> None:
    first_start.ensure_admin(email="admin@localhost", password="first password given")
    for parent in ("a", "b"):
        (tmp_path / parent / "Notes").mkdir(parents=True)
        first_start.ensure_vault(tmp_path / parent / "Notes", owner="admin@localhost")
    assert set(Vault.objects.values_list("slug", flat=True)) == {"notes", "notes-2"}


@pytest.mark.django_db
def test_a_folder_that_is_not_there_says_how_to_mend_it(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"is not a folder.*Point VAULT"):
        first_start.ensure_vault(tmp_path / "missing", owner="admin@localhost")


def test_a_taken_port_is_named_with_the_next_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"PORT={port + 1}"):
            first_start.check_port_is_free(port)


def test_one_data_folder_serves_one_start(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    lock = first_start.lock_data_folder()
    with pytest.raises(CommandError, match="already runs"):
        first_start.lock_data_folder()
    lock.close()
    first_start.lock_data_folder().close()
