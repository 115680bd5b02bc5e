"""Who may read and change what: the only module that decides it.

Every page, API call, socket command and search asks here at the moment of use. Missing
and forbidden look the same to the asker.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Q, QuerySet
from django.http import Http404

from vault.core.types import Scope
from vault.models import Note, Vault, VaultMember

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


def evaluated_by(user: User) -> QuerySet[Vault]:
    """Vaults whose search this user may measure and tune: owned ones; staff, all they read."""
    is_staff = bool(getattr(user, "is_staff", False))
    return visible_to(user) if is_staff else owned_by(user)


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
    )


def notes_in(scope: Scope) -> QuerySet[Note]:
    """Notes that `scope` allows."""
    return Note.objects.in_scope(scope) if scope else Note.objects.none()


def readable_vault(user: User, slug: str) -> Vault:
    """The vault named `slug`. Raises Http404 when missing or forbidden."""
    return _get(visible_to(user), slug)


def editable_vault(user: User, slug: str) -> Vault:
    """As readable_vault, for those who may change the vault's content."""
    return _get(editable_by(user), slug)


def owned_vault(user: User, slug: str) -> Vault:
    """As readable_vault, for its owners."""
    return _get(owned_by(user), slug)


def evaluated_vault(user: User, slug: str) -> Vault:
    """As readable_vault, for those who may measure and tune its search."""
    return _get(evaluated_by(user), slug)


def readable_note(user: User, slug: str, path: str) -> Note:
    """The note at `path` of vault `slug`. Raises Http404 when missing or forbidden."""
    note = Note.objects.filter(vault=readable_vault(user, slug), path=path).first()
    if note is None:
        raise Http404("No such note.")
    return note


def _with_role(user: User, roles: Sequence[str]) -> QuerySet[Vault]:
    if not user.is_authenticated or not user.is_active:
        return Vault.objects.none()
    own = Q(user_id=user.pk) | Q(group__user=user.pk)
    members = VaultMember.objects.filter(own, role__in=roles)
    return Vault.objects.filter(pk__in=members.values("vault_id"))


def _get(vaults: QuerySet[Vault], slug: str) -> Vault:
    vault = vaults.filter(slug=slug).first()
    if vault is None:
        raise Http404("No such vault.")
    return vault
