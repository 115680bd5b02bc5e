"""Folder rules at every door: what a member may not read is nowhere, not even counted."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.http import Http404
from django.test import Client
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from tests.cast import Cast, make_cast
from tests.vault.notes import make_link, make_model, make_note, make_vector
from vault.access import evaluated_vault, notes_in, scope_for, scopes_for
from vault.models import FormerPath, Note, ScrubFinding, SyncRun, VaultMember
from vault.querysets import folder_condition
from vault.related import related_notes

CANARY = "Quorvexine"
FOLDERS = ["A", "A/B", "A b", "C%", "C_", "é", "a"]


def limit(
    user: User, cast: Cast, *, only: Sequence[str] = (), hidden: Sequence[str] = ()
) -> VaultMember:
    member = VaultMember.objects.get(vault=cast.vault, user=user)
    member.only_folders, member.hidden_folders = list(only), list(hidden)
    member.save()
    return member


class EveryFormAgrees(TestCase):
    """The rule in Python, in the ORM and in the statements is one rule."""

    @settings(max_examples=40)
    @given(
        rules=st.lists(
            st.tuples(
                st.lists(st.sampled_from(FOLDERS), max_size=2),
                st.lists(st.sampled_from(FOLDERS), max_size=2),
            ),
            min_size=1,
            max_size=3,
        )
    )
    def test_of_random_rules(self, rules: list[tuple[list[str], list[str]]]) -> None:
        cast = make_cast()
        for place in [*FOLDERS, "A/B/deep", "Ab", "CX", ""]:
            make_note(cast.vault, f"{place}/n.md".lstrip("/"))
        make_note(cast.foreign_vault, "A/n.md")
        limit(cast.mate, cast, only=rules[0][0], hidden=rules[0][1])
        for number, (only, hidden) in enumerate(rules[1:]):
            group = Group.objects.create(name=f"g{number}")
            cast.mate.groups.add(group)
            VaultMember.objects.create(
                vault=cast.vault, group=group, only_folders=only, hidden_folders=hidden
            )
        scope = scope_for(cast.mate)
        every = Note.objects.all()
        expected = {note.pk for note in every if scope.opens(note.vault_id, note.path)}
        assert {note.pk for note in notes_in(scope)} == expected
        condition, values = folder_condition(scope)
        statement = "SELECT n.id FROM vault_note n WHERE n.vault_id = ANY(%(vaults)s) AND "
        with connection.cursor() as cursor:
            cursor.execute(statement + condition, values | {"vaults": list(scope.vault_ids)})
            assert {pk for (pk,) in cursor.fetchall()} == expected
        if any(not (only or hidden) for only, hidden in rules):
            assert scope.rules == ()


def test_an_owner_reads_everything_whatever_folders_their_membership_names(cast: Cast) -> None:
    note = make_note(cast.vault, "HR/Pay.md")
    limit(cast.owner, cast, only=["Open"], hidden=["HR"])
    scope = scope_for(cast.owner)
    assert scope.rules == ()
    assert list(notes_in(scope)) == [note]
    assert scopes_for([cast.owner]) == {cast.owner.pk: scope}


def test_staff_measure_the_search_of_those_vaults_alone_that_they_read_the_whole_of(
    cast: Cast,
) -> None:
    cast.mate.is_staff = True
    assert evaluated_vault(cast.mate, "team") == cast.vault
    limit(cast.mate, cast, hidden=["HR"])
    with pytest.raises(Http404):
        evaluated_vault(cast.mate, "team")
    cast.owner.is_staff = True
    assert evaluated_vault(cast.owner, "team") == cast.vault


@pytest.fixture
def planted(cast: Cast) -> Note:
    """A note in a folder that the mate may not read, linked with one that the mate may."""
    hidden = make_note(cast.vault, f"HR/{CANARY}.md", f"{CANARY} earns much", tags=[CANARY])
    seen = make_note(cast.vault, "Open/Plan.md", "The plan of the year.")
    make_link(hidden, seen)
    make_link(seen, hidden, "the other note")
    model = make_model(cast.vault)
    make_vector(hidden, model, 1, 0, 0, 0)
    make_vector(seen, model, 1, 0.1, 0, 0)
    failed = make_note(cast.vault, f"HR/{CANARY} failed.md", status=Note.Status.FAILED, reason="x")
    ScrubFinding.objects.create(vault=cast.vault, note=failed, kind="jwt", line=3)
    SyncRun.objects.create(
        vault=cast.vault,
        state=SyncRun.State.WARNINGS,
        warnings=[{"path": f"HR/{CANARY}.png.md", "reason": "odd", "line": None}],
    )
    limit(cast.mate, cast, hidden=["HR"])
    return hidden


def get(user: User, url: str, **params: str) -> tuple[int, str]:
    client = Client()
    client.force_login(user)
    reply = client.get(url, params)
    return reply.status_code, b"".join(reply).decode()


@pytest.mark.django_db
def test_no_page_names_what_is_hidden(cast: Cast, planted: Note) -> None:
    slug = {"slug": cast.vault.slug}
    pages = [
        (reverse("vaults"), {}),
        (reverse("vault", kwargs=slug), {}),
        (reverse("vault-state", kwargs=slug), {}),
        (reverse("vault-report", kwargs=slug), {}),
        (reverse("vault-tree", kwargs=slug), {"filter": CANARY[:5]}),
        (reverse("note", kwargs={**slug, "path": "Open/Plan.md"}), {}),
        (reverse("api-vaults"), {}),
        (reverse("api-index-status"), {}),
        (reverse("search"), {"q": "tag:Quorvexin"}),
        (reverse("search"), {"q": "earns much"}),
        (reverse("search-why"), {"vault": cast.vault.slug, "note": "HR", "q": "x"}),
        (reverse("home"), {}),
    ]
    for url, params in pages:
        owner_status, _ = get(cast.owner, url, **params)
        status, text = get(cast.mate, url, **params)
        assert status == owner_status, url
        assert CANARY not in text, url
    shown = "".join(get(cast.owner, url, **params)[1] for url, params in pages)
    assert CANARY in shown


@pytest.mark.django_db
def test_a_hidden_note_is_missing_by_every_address(cast: Cast, planted: Note) -> None:
    kwargs = {"slug": cast.vault.slug, "path": planted.path}
    for url in (
        reverse("note", kwargs=kwargs),
        reverse("vault-file", kwargs=kwargs),
        reverse("api-note", args=[planted.pk]),
        reverse("api-similar", args=[planted.pk]),
        reverse("api-section", args=[planted.pk]),
    ):
        status, text = get(cast.mate, url)
        assert status == 404
        assert CANARY not in text.replace(planted.path, "")
    FormerPath.objects.create(vault=cast.vault, note=planted, path="Open/Was.md")
    assert get(cast.mate, reverse("note", kwargs={**kwargs, "path": "Open/Was.md"}))[0] == 404


@pytest.mark.django_db
def test_what_is_hidden_is_not_counted(cast: Cast, planted: Note) -> None:
    (row,) = json_of(cast.mate, reverse("api-vaults"))
    assert (row["notes"], row["searchable"]) == (1, 1)
    (row,) = json_of(cast.owner, reverse("api-vaults"))
    assert (row["notes"], row["searchable"]) == (3, 2)


def json_of(user: User, url: str) -> list[dict[str, object]]:
    client = Client()
    client.force_login(user)
    data: list[dict[str, object]] = client.get(url).json()
    return data


@pytest.mark.django_db
def test_related_notes_are_looked_for_among_the_open_ones(cast: Cast, planted: Note) -> None:
    seen = Note.objects.get(path="Open/Plan.md")
    assert related_notes(seen, scope=scope_for(cast.mate)) == []
    assert [note for note, _ in related_notes(seen, scope=scope_for(cast.owner))] == [planted]


@pytest.mark.django_db
def test_an_owner_reads_everything_and_may_set_folders_of_others(cast: Cast, planted: Note) -> None:
    client = Client()
    client.force_login(cast.owner)
    mate = VaultMember.objects.get(vault=cast.vault, user=cast.mate)
    url = reverse("vault-member", args=[cast.vault.slug, mate.pk])
    page = client.post(url, {"folders": "1", "only": "Open\n/HR/plans/", "hidden": ""}, follow=True)
    mate.refresh_from_db()
    assert (mate.only_folders, mate.hidden_folders) == (["Open", "HR/plans"], [])
    assert "2 folders" in page.content.decode()
    own = VaultMember.objects.get(vault=cast.vault, user=cast.owner)
    refused = client.post(
        reverse("vault-member", args=[cast.vault.slug, own.pk]),
        {"folders": "1", "only": "Open", "hidden": ""},
        follow=True,
    )
    assert "An owner reads the whole vault" in refused.content.decode()
    bad = client.post(url, {"folders": "1", "only": "../up", "hidden": ""}, follow=True)
    assert "is no folder of the vault" in bad.content.decode()
    mate.refresh_from_db()
    assert mate.only_folders == ["Open", "HR/plans"]
