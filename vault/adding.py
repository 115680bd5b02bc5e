"""Make a folder of notes a vault."""

from __future__ import annotations

from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.text import slugify

from providers.registry import default_embedding_model
from vault.models import Vault, VaultMember


class CannotAdd(Exception):
    """`str()` says why the folder cannot become this vault, and what to do."""


@transaction.atomic
def add_vault(
    folder: Path, *, slug: str = "", name: str = "", owner: User | None = None
) -> tuple[Vault, bool]:
    """The vault of `folder`, and whether it is new. Nothing is read yet: sync it.

    Called again with the same folder it returns what is there, and makes `owner` an
    owner of it. Raises CannotAdd.
    """
    place = folder.expanduser().resolve()
    if not place.is_dir():
        raise CannotAdd(f"{place} is not a folder on this server.")
    slug = slug or slugify(place.name)[:60]
    if not slug or slug != slugify(slug):
        raise CannotAdd(f"“{slug}” is no slug: use letters, digits and dashes (--slug).")
    vault = Vault.objects.filter(slug=slug).first()
    if vault is not None and Path(vault.place) != place:
        raise CannotAdd(f"Vault “{slug}” is already there, for {vault.place}. Choose another slug.")
    created = vault is None
    if vault is None:
        vault = Vault.objects.create(
            slug=slug,
            name=name or place.name,
            place=str(place),
            embedding_model=default_embedding_model(),
        )
    if owner is not None:
        VaultMember.objects.update_or_create(
            vault=vault, user=owner, defaults={"role": VaultMember.Role.OWNER}
        )
    return vault, created
