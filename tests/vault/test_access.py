"""Rights: who may read and change which vault."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, Group
from django.db import connection
from django.http import Http404
from django.test.utils import CaptureQueriesContext

from tests.cast import Cast, make_vault
from tests.vault.notes import make_note
from vault import access
from vault.models import VaultMember


def test_each_role_sees_and_changes_what_it_may(cast: Cast) -> None:
    assert set(access.visible_to(cast.owner)) == {cast.vault}
    assert set(access.visible_to(cast.mate)) == {cast.vault}
    assert set(access.visible_to(cast.outsider)) == {cast.foreign_vault}
    assert set(access.editable_by(cast.mate)) == set()
    assert set(access.owned_by(cast.owner)) == {cast.vault}


def test_a_group_gives_rights_and_taking_it_away_ends_them(cast: Cast) -> None:
    group = Group.objects.create(name="writers")
    VaultMember.objects.create(vault=cast.vault, group=group, role=VaultMember.Role.EDITOR)
    cast.outsider.groups.add(group)
    assert cast.vault in access.editable_by(cast.outsider)
    cast.outsider.groups.clear()
    assert cast.vault not in access.visible_to(cast.outsider)


def test_nobody_and_suspended_users_see_nothing(cast: Cast) -> None:
    cast.owner.is_active = False
    assert not access.visible_to(cast.owner).exists()
    assert not access.visible_to(AnonymousUser()).exists()
    assert not access.scope_for(AnonymousUser())


def test_missing_and_forbidden_look_the_same(cast: Cast) -> None:
    with pytest.raises(Http404) as missing:
        access.readable_vault(cast.outsider, "no-such-vault")
    with pytest.raises(Http404) as forbidden:
        access.readable_vault(cast.outsider, cast.vault.slug)
    assert str(missing.value) == str(forbidden.value)


def test_a_scope_is_narrowed_by_slugs_and_fails_closed(cast: Cast) -> None:
    assert access.scope_for(cast.owner, ["team"]).vault_ids == (cast.vault.pk,)
    foreign = access.scope_for(cast.owner, ["foreign"])
    assert not foreign
    assert foreign.narrowed_to_nothing
    assert not access.scope_for(cast.owner, [])


def test_notes_are_found_where_they_are_in_one_look(cast: Cast) -> None:
    vaults = [cast.vault, make_vault("second", owner=cast.owner)]
    notes = [make_note(vault, f"{n}.md") for vault in vaults for n in range(3)]
    hidden = make_note(cast.foreign_vault, "0.md")
    places = {(note.vault.slug, note.path) for note in [*notes[1:], hidden]} | {("team", "no.md")}
    with CaptureQueriesContext(connection) as queries:
        found = access.notes_at(cast.owner, places)
    assert found == {(note.vault.slug, note.path): note for note in notes[1:]}
    assert len(queries) <= 4


def test_the_scopes_of_many_are_those_of_each(cast: Cast) -> None:
    reader = VaultMember.Role.READER
    group = Group.objects.create(name="readers")
    other = Group.objects.create(name="others")
    cast.outsider.groups.add(group, other)
    cast.mate.groups.add(group)
    members = VaultMember.objects
    members.create(vault=cast.vault, group=group, role=reader, only_folders=["Open"])
    members.create(vault=cast.foreign_vault, group=other, role=reader)
    members.filter(user=cast.mate).update(hidden_folders=["HR"])
    people = [cast.owner, cast.mate, cast.outsider]
    assert access.scopes_for(people) == {user.pk: access.scope_for(user) for user in people}
    cast.mate.is_active = False
    assert cast.mate.pk not in access.scopes_for([*people, AnonymousUser()])
    assert access.scopes_for([]) == {}
