"""Facts that programs keep beside a vault: who may, what is stored, where they end."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.cast import Cast
from tests.vault.notes import make_note
from vault.facts import rescrub_kept
from vault.models import Fact, Note, Vault, VaultMember
from vault.rescrub import rescrub_vault
from vault.tokens import create_token

pytestmark = pytest.mark.django_db

URL = "/api/vaults/team/facts"
FACT = {"text": "The blue pump failed in March.", "origin": "nightly summary of Ops/"}


def call(user: User, method: str, url: str = URL, **data: Any) -> tuple[int, Any]:
    client = Client(headers={"Authorization": f"Bearer {create_token(user)}"})
    reply = getattr(client, method)(url, data=data, content_type="application/json")
    return reply.status_code, reply.json() if reply.content else None


@pytest.fixture
def note(cast: Cast) -> Note:
    Vault.objects.filter(pk=cast.vault.pk).update(keeps_facts=True)
    return make_note(cast.vault, "Ops/Pumps.md", "It failed.")


def facts(user: User, query: str = "") -> list[str]:
    client = Client(headers={"Authorization": f"Bearer {create_token(user)}"})
    return [row["text"] for row in client.get(f"{URL}{query}").json()["facts"]]


def test_a_vault_keeps_none_until_somebody_switches_that_on(cast: Cast) -> None:
    status, answer = call(cast.owner, "post", **FACT)
    assert status == 409
    assert "Admin" in answer["detail"]
    assert not Fact.objects.exists()


def test_an_editor_stores_a_fact_and_readers_read_it_with_where_it_comes_from(
    cast: Cast, note: Note
) -> None:
    status, made = call(cast.owner, "post", **FACT, note_id=note.pk)
    assert status == 201
    assert (made["text"], made["origin"]) == (FACT["text"], FACT["origin"])
    assert (made["note_id"], made["path"], made["author"]) == (
        note.pk,
        "Ops/Pumps.md",
        str(cast.owner),
    )
    client = Client(headers={"Authorization": f"Bearer {create_token(cast.mate)}"})
    assert client.get(URL).json() == {"facts": [made], "next": None}
    assert call(cast.mate, "post", **FACT)[0] == 404, "a reader writes nothing"
    assert call(cast.mate, "delete", f"{URL}/{made['id']}")[0] == 404
    assert call(cast.owner, "delete", f"{URL}/{made['id']}") == (204, None)
    assert call(cast.owner, "delete", f"{URL}/{made['id']}")[0] == 404


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"origin": "x"}, "text"),
        ({"text": "x"}, "origin"),
        ({"text": " ", "origin": "x"}, "text"),
        ({"text": "x" * 2001, "origin": "x"}, "text"),
        ({"text": "x", "origin": "x", "note_id": 10**12}, "note_id"),
        ({"text": "x", "origin": "x", "note_id": 10**30}, "note_id"),
        ({"text": "x", "origin": "x", "note_id": "pump"}, "note_id"),
    ],
)
def test_what_is_no_fact_is_refused_by_its_field(
    cast: Cast, note: Note, data: dict[str, Any], field: str
) -> None:
    status, answer = call(cast.owner, "post", **data)
    assert (status, list(answer["fields"])) == (400, [field])


def test_secrets_are_taken_out_before_anything_is_stored_and_by_later_rules(
    cast: Cast, note: Note
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    call(cast.owner, "post", text=f"The token is {secret}.", origin=f"run with {secret}")
    stored = Fact.objects.get()
    assert secret not in stored.text + stored.origin
    assert "⟦secret:" in stored.text
    Fact.objects.update(text=f"written by an older version: {secret}")
    rescrub_vault(cast.vault.pk)
    assert secret not in Fact.objects.get().text
    assert rescrub_kept(cast.vault.pk, str.strip) == 0


def test_who_may_read_some_folders_reads_the_facts_about_those_alone(
    cast: Cast, note: Note
) -> None:
    closed = make_note(cast.vault, "Board/Pay.md", "closed")
    for text, about in (("open", note.pk), ("hidden", closed.pk), ("of all", None)):
        call(cast.owner, "post", text=text, origin="x", note_id=about)
    VaultMember.objects.filter(user=cast.mate).update(only_folders=["Ops"])
    assert facts(cast.mate) == ["open"]
    assert facts(cast.owner) == ["open", "hidden", "of all"]
    assert facts(cast.owner, f"?note={closed.pk}") == ["hidden"]
    assert facts(cast.mate, f"?note={closed.pk}") == []


def test_facts_are_read_in_pages(cast: Cast, note: Note) -> None:
    Fact.objects.bulk_create(
        Fact(vault=cast.vault, text=f"fact {number}", origin="x") for number in range(205)
    )
    seen: list[str] = []
    after = ""
    while True:
        client = Client(headers={"Authorization": f"Bearer {create_token(cast.owner)}"})
        page = client.get(f"{URL}{after}").json()
        seen += [row["text"] for row in page["facts"]]
        if page["next"] is None:
            break
        after = f"?after={page['next']}"
    assert seen == [f"fact {number}" for number in range(205)]
    assert client.get(f"{URL}?after=soon").status_code == 400


def test_a_fact_outlives_its_note_and_goes_with_its_vault(cast: Cast, note: Note) -> None:
    call(cast.owner, "post", **FACT, note_id=note.pk)
    note.delete()
    assert facts(cast.owner) == [FACT["text"]]
    cast.vault.delete()
    assert not Fact.objects.exists()
