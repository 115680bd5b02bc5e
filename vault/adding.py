"""Make a folder of notes, or a git repository, a vault."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.text import slugify

from providers.registry import default_embedding_model
from vault.core.git_addresses import looks_like_git, read_git_address
from vault.locks import Work, wait_in_line
from vault.models import Vault, VaultMember


class CannotAdd(Exception):
    """`str()` says why it cannot become this vault, and what to do; `field` about what."""

    def __init__(self, reason: str, *, field: str = "address") -> None:
        super().__init__(reason)
        self.field = field


# What forms call the columns that may be refused.
_FIELDS = {"name": "name", "git_branch": "branch", "token_variable": "token_variable"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a vault's notes are, and what it is called when nobody says."""

    kind: Vault.SourceKind
    text: str
    name: str
    branch: str = ""
    token_variable: str = ""


def place_of(text: str | Path, *, branch: str = "", token_variable: str = "") -> Place:
    """A folder on this server, or the https address of a repository. Raises CannotAdd."""
    if looks_like_git(str(text)):
        return repository_at(str(text), branch=branch, token_variable=token_variable)
    if branch or token_variable:
        raise CannotAdd("Only a git repository has a branch and a token.")
    return folder_at(text)


def folder_at(text: str | Path) -> Place:
    """A folder on this server that can be read. Raises CannotAdd."""
    if "\0" in str(text):
        raise CannotAdd("A path of a folder has no character 0 in it.")
    try:
        folder = Path(str(text).strip()).expanduser().resolve()
        is_folder, is_there = folder.is_dir(), folder.exists()
    except (OSError, RuntimeError) as error:
        raise CannotAdd(f"It cannot be looked at ({error}). Write its whole path.") from error
    if not is_folder:
        what = "is a file: name the folder it is in" if is_there else "is not there"
        raise CannotAdd(f"{folder} is not a folder on this server: it {what}.")
    if not os.access(folder, os.R_OK | os.X_OK):
        raise CannotAdd(
            f"{folder} cannot be read by the user that runs SecondBrain. Give that user the "
            "right to read it and the folders above it."
        )
    return Place(Vault.SourceKind.FOLDER, str(folder), folder.name or "notes")


def doubts_about(vault: Vault) -> list[str]:
    """What whoever adds a folder should know: other vaults that hold it, or are in it."""
    place = Path(vault.place)
    doubts = []
    folders = Vault.objects.present().filter(source_kind=Vault.SourceKind.FOLDER)
    for other in folders.exclude(pk=vault.pk):
        there = Path(other.place)
        if place == there or place.is_relative_to(there) or there.is_relative_to(place):
            doubts.append(
                f"“{other}” reads {there} as well: what is in both is found twice by whoever "
                "may read both. Settings of a vault can leave folders out."
            )
    if next(place.iterdir(), None) is None:
        doubts.append("There is nothing in this folder yet: notes are read as they appear.")
    return doubts


def repository_at(address: str, *, branch: str = "", token_variable: str = "") -> Place:
    """A git repository, which nobody asked for anything yet. Raises CannotAdd."""
    try:
        read = read_git_address(address)
    except ValueError as error:
        raise CannotAdd(str(error)) from error
    kind = Vault.SourceKind.GIT
    return Place(kind, read.url, read.name, branch.strip(), token_variable.strip())


@transaction.atomic
def add_vault(
    place: Place, *, slug: str = "", name: str = "", owner: User | None = None
) -> tuple[Vault, bool]:
    """The vault of `place`, and whether it is new. Nothing is read yet: sync it.

    Called again with the same place it returns what is there, and makes `owner` an
    owner of it. Raises CannotAdd.
    """
    # Of two that are added at the same moment the second sees the first.
    wait_in_line(Work.NAMING)
    slug = slug or slugify(place.name)[:60]
    if not slug or slug != slugify(slug):
        raise CannotAdd(f"“{slug}” is no slug: use letters, digits and dashes (--slug).")
    vault = Vault.objects.filter(slug=slug).first()
    if vault is not None and vault.state in Vault.GONE:
        raise CannotAdd(
            f"Vault “{slug}” was deleted and is not removed yet. Bring it back on the page of "
            "vaults, wait until it is gone, or choose another slug."
        )
    if vault is not None and (vault.place, vault.git_branch) != (place.text, place.branch):
        raise CannotAdd(f"Vault “{slug}” is already there, for {vault.place}. Choose another slug.")
    created = vault is None
    if vault is None:
        vault = _create(place, slug=slug, name=name)
    if owner is not None:
        VaultMember.objects.update_or_create(
            vault=vault, user=owner, defaults={"role": VaultMember.Role.OWNER}
        )
    return vault, created


@transaction.atomic
def add_another_vault(place: Place, *, name: str = "", owner: User | None = None) -> Vault:
    """A new vault of `place`, whatever other vaults read it; its slug comes from its name.

    Raises CannotAdd.
    """
    wait_in_line(Work.NAMING)
    name = name or place.name
    vault, _new = add_vault(place, slug=free_slug(name), name=name, owner=owner)
    return vault


def _create(place: Place, *, slug: str, name: str) -> Vault:
    vault = Vault(
        slug=slug,
        name=name or place.name,
        source_kind=place.kind,
        place=place.text,
        git_branch=place.branch,
        token_variable=place.token_variable,
        embedding_model=default_embedding_model(),
    )
    try:
        vault.full_clean()
    except ValidationError as error:
        field = _FIELDS.get(next(iter(error.message_dict)), "address")
        raise CannotAdd(" ".join(error.messages), field=field) from error
    vault.save()
    return vault


def free_slug(name: str) -> str:
    """A slug from the name that no vault has. Vaults may be added at the same moment: take it
    after waiting in line, in the transaction that uses it."""
    stem = slugify(name)[:50] or "vault"
    taken = set(Vault.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    number = 2
    slug = stem
    while slug in taken:
        slug = f"{stem}-{number}"
        number += 1
    return slug
