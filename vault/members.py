"""Who belongs to a vault: added, changed, removed. A vault keeps an owner."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import Q

from vault.models import Vault, VaultMember


class MemberRefused(Exception):
    """`str()` says why, and what to do instead."""


@transaction.atomic
def add_member(vault: Vault, *, name: str, role: str) -> VaultMember:
    """Let a person (by e-mail) or a group (by name) into `vault`; a member gets the new role.

    Raises MemberRefused when nobody has that name, and as change_role does.
    """
    _lock(vault)
    user, group = _user_or_group(name)
    member = VaultMember.objects.filter(vault=vault, user=user, group=group).first()
    if member is None:
        return VaultMember.objects.create(vault=vault, user=user, group=group, role=role)
    return change_role(vault, member.pk, role=role)


@transaction.atomic
def change_role(vault: Vault, member_id: int, *, role: str) -> VaultMember:
    """Give a member another role. Raises MemberRefused when no owner would be left."""
    _lock(vault)
    member = _member(vault, member_id)
    if role != VaultMember.Role.OWNER:
        _require_another_owner(vault, member)
    member.role = role
    member.save(update_fields=["role"])
    return member


@transaction.atomic
def set_folders(
    vault: Vault, member_id: int, *, only: Sequence[str], hidden: Sequence[str]
) -> VaultMember:
    """Open to a member `only` these folders (empty: all), and never the `hidden` ones.

    Raises MemberRefused for an owner, who reads everything.
    """
    _lock(vault)
    member = _member(vault, member_id)
    if member.role == VaultMember.Role.OWNER and (only or hidden):
        raise MemberRefused("An owner reads the whole vault. Give another role first.")
    member.only_folders, member.hidden_folders = list(only), list(hidden)
    member.save(update_fields=["only_folders", "hidden_folders"])
    return member


@transaction.atomic
def remove_member(vault: Vault, member_id: int) -> VaultMember:
    """Take a member out. Raises MemberRefused when no owner would be left."""
    _lock(vault)
    member = _member(vault, member_id)
    _require_another_owner(vault, member)
    VaultMember.objects.get(pk=member.pk).delete()
    return member


def _lock(vault: Vault) -> None:
    """One change at a time: two owners must not remove each other at once."""
    Vault.objects.select_for_update().get(pk=vault.pk)


def _user_or_group(name: str) -> tuple[User | None, Group | None]:
    name = name.strip()
    if "@" in name:
        user = get_user_model().objects.filter(email__iexact=name, is_active=True).first()
        if user is None:
            raise MemberRefused(
                f"Nobody signs in here as {name}. An administrator can create the account first."
            )
        return user, None
    group = Group.objects.filter(name__iexact=name).first()
    if group is None:
        raise MemberRefused(
            f"There is no group called “{name}”. Write an e-mail address, or a group's name."
        )
    return None, group


def _member(vault: Vault, member_id: int) -> VaultMember:
    member = VaultMember.objects.filter(vault=vault, pk=member_id).first()
    if member is None:
        raise MemberRefused("This member was already removed.")
    return member


def _require_another_owner(vault: Vault, member: VaultMember) -> None:
    """Somebody who can sign in must own the vault besides `member`."""
    if member.role != VaultMember.Role.OWNER:
        return
    others = VaultMember.objects.filter(vault=vault, role=VaultMember.Role.OWNER)
    can_sign_in = Q(user__is_active=True) | Q(group__user__is_active=True)
    if not others.exclude(pk=member.pk).filter(can_sign_in).exists():
        raise MemberRefused("A vault keeps at least one owner. Make somebody else owner first.")
