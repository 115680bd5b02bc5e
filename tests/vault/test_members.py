"""Who belongs to a vault, and that somebody always owns it."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group

from tests.cast import Cast, make_user
from vault.members import MemberRefused, add_member, change_role, remove_member
from vault.models import VaultMember

Role = VaultMember.Role


def member_of(cast: Cast, name: str) -> VaultMember:
    return VaultMember.objects.get(vault=cast.vault, user__username=f"{name}@example.com")


def test_a_person_is_added_by_email_whatever_its_case(cast: Cast) -> None:
    added = add_member(cast.vault, name=" Outsider@Example.com ", role=Role.EDITOR)
    assert (added.user, added.role) == (cast.outsider, Role.EDITOR)


def test_a_group_is_added_by_name(cast: Cast) -> None:
    group = Group.objects.create(name="Platform")
    assert add_member(cast.vault, name="platform", role=Role.READER).group == group


@pytest.mark.parametrize("name", ["nobody@example.com", "No such group"])
def test_a_name_of_nobody_is_refused_and_named(cast: Cast, name: str) -> None:
    with pytest.raises(MemberRefused, match=name):
        add_member(cast.vault, name=name, role=Role.READER)


def test_an_inactive_account_is_not_added(cast: Cast) -> None:
    user = make_user("left")
    user.is_active = False
    user.save()
    with pytest.raises(MemberRefused):
        add_member(cast.vault, name=user.email, role=Role.READER)


def test_adding_a_member_again_changes_the_role(cast: Cast) -> None:
    add_member(cast.vault, name="mate@example.com", role=Role.EDITOR)
    assert member_of(cast, "mate").role == Role.EDITOR
    assert VaultMember.objects.filter(vault=cast.vault).count() == 2


def test_the_last_owner_can_neither_leave_nor_step_down(cast: Cast) -> None:
    owner = member_of(cast, "owner")
    with pytest.raises(MemberRefused, match="owner"):
        remove_member(cast.vault, owner.pk)
    with pytest.raises(MemberRefused, match="owner"):
        change_role(cast.vault, owner.pk, role=Role.READER)
    with pytest.raises(MemberRefused, match="owner"):
        add_member(cast.vault, name="owner@example.com", role=Role.READER)
    assert member_of(cast, "owner").role == Role.OWNER


def test_an_owner_may_go_when_another_one_is_there(cast: Cast) -> None:
    change_role(cast.vault, member_of(cast, "mate").pk, role=Role.OWNER)
    remove_member(cast.vault, member_of(cast, "owner").pk)
    assert not VaultMember.objects.filter(vault=cast.vault, user=cast.owner).exists()


def test_an_owner_who_cannot_sign_in_does_not_count(cast: Cast) -> None:
    change_role(cast.vault, member_of(cast, "mate").pk, role=Role.OWNER)
    cast.mate.is_active = False
    cast.mate.save()
    with pytest.raises(MemberRefused):
        remove_member(cast.vault, member_of(cast, "owner").pk)


def test_a_group_owns_a_vault_only_with_people_in_it(cast: Cast) -> None:
    group = Group.objects.create(name="Platform")
    add_member(cast.vault, name="Platform", role=Role.OWNER)
    with pytest.raises(MemberRefused):
        remove_member(cast.vault, member_of(cast, "owner").pk)
    group.user_set.add(cast.mate)
    remove_member(cast.vault, member_of(cast, "owner").pk)


def test_a_member_of_another_vault_is_out_of_reach(cast: Cast) -> None:
    foreign = VaultMember.objects.get(vault=cast.foreign_vault)
    with pytest.raises(MemberRefused):
        remove_member(cast.vault, foreign.pk)
    with pytest.raises(MemberRefused):
        change_role(cast.vault, foreign.pk, role=Role.READER)
    assert VaultMember.objects.filter(pk=foreign.pk, role=Role.OWNER).exists()
