"""The people of every test: an owner, a team mate, an outsider. And what they own."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from vault.models import Vault, VaultMember

PASSWORD = "correct horse battery"


@dataclass(frozen=True)
class Cast:
    """`owner` owns `vault`; `mate` reads it; `outsider` has another, unrelated vault."""

    owner: User
    mate: User
    outsider: User
    vault: Vault
    foreign_vault: Vault


def make_user(name: str, *, is_superuser: bool = False) -> User:
    """An active user who signs in with `<name>@example.com` and PASSWORD."""
    email = f"{name}@example.com"
    manager = get_user_model().objects
    create = manager.create_superuser if is_superuser else manager.create_user
    user: User = create(username=email, email=email, password=PASSWORD)
    return user


def make_vault(slug: str, *, owner: User, place: str = "/nonexistent", **fields: object) -> Vault:
    """A vault that `owner` owns."""
    vault = Vault.objects.create(slug=slug, name=slug.title(), place=place, **fields)
    VaultMember.objects.create(vault=vault, user=owner, role=VaultMember.Role.OWNER)
    return vault


def make_cast() -> Cast:
    owner, mate, outsider = make_user("owner"), make_user("mate"), make_user("outsider")
    vault = make_vault("team", owner=owner)
    VaultMember.objects.create(vault=vault, user=mate, role=VaultMember.Role.READER)
    return Cast(owner, mate, outsider, vault, make_vault("foreign", owner=outsider))
