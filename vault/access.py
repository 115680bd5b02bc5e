"""Who may read and change what: the only module that decides it.

Every page, API call, socket command and search asks here at the moment of use. Missing
and forbidden look the same to the asker.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from hashlib import md5
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import F, Q, QuerySet
from django.db.models.functions import MD5
from django.http import Http404

from vault.core.folder_rules import FolderRule
from vault.core.types import Scope
from vault.models import Fact, FormerPath, Note, Vault, VaultMember

User = AbstractBaseUser | AnonymousUser
Role = VaultMember.Role

READERS = (Role.READER, Role.EDITOR, Role.OWNER)
EDITORS = (Role.EDITOR, Role.OWNER)
OWNERS = (Role.OWNER,)


def visible_to(user: User) -> QuerySet[Vault]:
    """Vaults this user may read."""
    return _with_role(user, READERS)


def editable_by(user: User) -> QuerySet[Vault]:
    """Vaults this user may sync and upload to."""
    return _with_role(user, EDITORS)


def may_upload(user: User) -> bool:
    """Whether this user may make a new vault: staff, and whoever edits one already."""
    return bool(getattr(user, "is_staff", False) and user.is_active) or editable_by(user).exists()


def owned_by(user: User) -> QuerySet[Vault]:
    """Vaults whose members and settings this user may change."""
    return _with_role(user, OWNERS)


def deleted_by(user: User) -> QuerySet[Vault]:
    """Vaults that this user owned and that are deleted, or being removed."""
    if not user.is_authenticated or not user.is_active:
        return Vault.objects.none()
    members = _memberships(user).filter(role__in=OWNERS)
    return Vault.objects.filter(pk__in=members.values("vault_id"), state__in=Vault.GONE)


def evaluated_by(user: User) -> QuerySet[Vault]:
    """Vaults whose search this user may measure and tune: owned ones; staff, all that they
    read the whole of."""
    if not getattr(user, "is_staff", False):
        return owned_by(user)
    limited = {rule.vault_id for rule in scope_for(user).rules}
    return visible_to(user).exclude(pk__in=limited)


def whole_vault(vault: Vault) -> Scope:
    """All of one vault, for the installation's own work; never on behalf of a person."""
    return Scope(user_id=0, vault_ids=(vault.pk,))


def scope_for(user: User, slugs: Sequence[str] | None = None) -> Scope:
    """What this user may search now, narrowed to the vaults named in `slugs`.

    None means every readable vault; unknown or forbidden slugs are left out, and an
    empty sequence gives an empty scope.
    """
    readable = visible_to(user)
    chosen = readable if slugs is None else readable.filter(slug__in=slugs)
    vault_ids = tuple(chosen.order_by("pk").values_list("pk", flat=True))
    return Scope(
        user_id=user.pk or 0,
        vault_ids=vault_ids,
        narrowed_to_nothing=slugs is not None and not vault_ids and readable.exists(),
        rules=_folder_rules(user, vault_ids),
    )


def scopes_for(users: Iterable[User]) -> dict[int, Scope]:
    """As scope_for, of many users in two statements, by their ids."""
    ids = [user.pk for user in users if user.is_authenticated and user.is_active]
    members = VaultMember.objects.filter(role__in=READERS).order_by("vault_id", "pk")
    own = members.filter(user_id__in=ids).annotate(reader=F("user_id"))
    shared = members.filter(group__user__in=ids).annotate(reader=F("group__user"))
    found: list[Any] = [*own, *shared]  # with `reader`, which no type tells
    by_reader: dict[int, list[VaultMember]] = {pk: [] for pk in ids}
    for member in sorted(found, key=lambda member: (member.vault_id, member.pk)):
        by_reader[member.reader].append(member)
    return {
        reader: Scope(
            user_id=reader,
            vault_ids=tuple(sorted({member.vault_id for member in members})),
            rules=_rules_of(members),
        )
        for reader, members in by_reader.items()
    }


def notes_in(scope: Scope) -> QuerySet[Note]:
    """Notes that `scope` allows."""
    return Note.objects.in_scope(scope) if scope else Note.objects.none()


def notes_of(user: User, vault: Vault) -> QuerySet[Note]:
    """The notes of `vault` that this user may read."""
    return notes_in(scope_for(user, [vault.slug]))


def notes_at(user: User, places: Collection[tuple[str, str]]) -> dict[tuple[str, str], Note]:
    """The notes at these (slug, path) that this user may read, by where they are."""
    hashes = [_hash_of(path) for _slug, path in places]
    notes = notes_in(scope_for(user, [slug for slug, _path in places])).select_related("vault")
    found = notes.annotate(hashed=MD5("path")).filter(hashed__in=hashes)
    by_place = {(note.vault.slug, note.path): note for note in found}
    return {place: note for place, note in by_place.items() if place in places}


def facts_of(user: User, vault: Vault) -> QuerySet[Fact]:
    """The facts of `vault` that this user may read: those about notes that they may read, and
    those about the whole of it for who may read the whole."""
    scope = scope_for(user, [vault.slug])
    facts = Fact.objects.filter(vault=vault)
    if not scope:
        return facts.none()
    return facts.filter(note__in=notes_in(scope).values("pk")) if scope.rules else facts


def readable_vault(user: User, slug: str) -> Vault:
    """The vault named `slug`. Raises Http404 when missing or forbidden."""
    return _get(visible_to(user), slug)


def editable_vault(user: User, slug: str) -> Vault:
    """As readable_vault, for those who may change the vault's content."""
    return _get(editable_by(user), slug)


def owned_vault(user: User, slug: str) -> Vault:
    """As readable_vault, for its owners."""
    return _get(owned_by(user), slug)


def deleted_vault(user: User, slug: str) -> Vault:
    """As owned_vault, for one that was deleted."""
    return _get(deleted_by(user), slug)


def evaluated_vault(user: User, slug: str) -> Vault:
    """As readable_vault, for those who may measure and tune its search."""
    return _get(evaluated_by(user), slug)


def readable_note(user: User, slug: str, path: str) -> Note:
    """The note at `path` of vault `slug`. Raises Http404 when missing or forbidden."""
    note = notes_of(user, readable_vault(user, slug)).filter(path=path).first()
    if note is None:
        raise Http404("No such note.")
    return note


def moved_note(user: User, slug: str, path: str) -> Note | None:
    """The note that was at `path` of vault `slug` before it was moved, if `user` may read it."""
    vault = visible_to(user).filter(slug=slug).first()
    if vault is None:
        return None
    former = FormerPath.objects.filter(vault=vault).annotate(hashed=MD5("path"))
    named = former.filter(hashed=_hash_of(path), path=path)
    return notes_of(user, vault).filter(pk__in=named.values("note_id")).first()


def _hash_of(path: str) -> str:
    """As the database's indexes of paths have it."""
    return md5(path.encode(), usedforsecurity=False).hexdigest()


def _with_role(user: User, roles: Sequence[str]) -> QuerySet[Vault]:
    if not user.is_authenticated or not user.is_active:
        return Vault.objects.none()
    members = _memberships(user).filter(role__in=roles)
    return Vault.objects.present().filter(pk__in=members.values("vault_id"))


def _memberships(user: User) -> QuerySet[VaultMember]:
    """One's own, and those of one's groups."""
    return VaultMember.objects.filter(Q(user_id=user.pk) | Q(group__user=user.pk))


def _folder_rules(user: User, vault_ids: Sequence[int]) -> tuple[FolderRule, ...]:
    """The rules of those vaults that no membership of this user opens as a whole."""
    if not vault_ids:
        return ()
    return _rules_of(_memberships(user).filter(vault_id__in=vault_ids).order_by("vault_id", "pk"))


def _rules_of(members: Iterable[VaultMember]) -> tuple[FolderRule, ...]:
    """What one person's memberships open, less the vaults that one of them opens whole.

    An owner reads everything: who is a member, and of what, could not be looked after else.
    """
    rules = [
        FolderRule(member.vault_id)
        if member.role in OWNERS
        else FolderRule(member.vault_id, tuple(member.only_folders), tuple(member.hidden_folders))
        for member in members
    ]
    whole = {rule.vault_id for rule in rules if rule.is_open}
    return tuple(dict.fromkeys(rule for rule in rules if rule.vault_id not in whole))


def _get(vaults: QuerySet[Vault], slug: str) -> Vault:
    vault = vaults.filter(slug=slug).first()
    if vault is None:
        raise Http404("No such vault.")
    return vault
