"""Why a query does not find a note."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from tests.cast import Cast
from tests.retrieval.library import embed, make_embedding_model, write_note
from vault.models import Note, SyncRun, Vault

pytestmark = pytest.mark.django_db


@pytest.fixture
def library(cast: Cast) -> Cast:
    write_note(cast.vault, "Ops/Pumps.md", "The blue pump stands in the cellar.")
    write_note(cast.vault, "Other.md", "Words about gardens and apples.")
    write_note(cast.foreign_vault, "Secret.md", "The blue pump of somebody else.")
    embed(cast.vault, make_embedding_model())
    return cast


def ask(user: Any, **params: str) -> Any:
    client = Client()
    client.force_login(user)
    return client.get(reverse("search-why"), params)


def words_of(user: Any, **params: str) -> str:
    return str(ask(user, vault="team", **params).content.decode())


def test_a_note_that_is_found_says_where_and_by_which_arm(library: Cast) -> None:
    html = words_of(library.mate, note="Ops/Pumps.md", q="blue pump")
    assert "Search finds it: it is number 1." in html
    assert "as 1 passage" in html
    assert "Keywords: passage 1 of 1." in html
    assert "Meaning: passage 1 of" in html


def test_a_note_without_the_words_says_so(library: Cast) -> None:
    html = words_of(library.mate, note="other", q="blue pump")
    assert "no passage of it holds the words" in html


def test_an_excluded_note_tells_its_reason(library: Cast) -> None:
    Note.objects.filter(path="Other.md").update(status="excluded", reason="It is binary.")
    html = words_of(library.mate, note="Other.md", q="gardens")
    assert "not searchable: It is binary." in html


def test_filters_that_leave_it_out_are_named(library: Cast) -> None:
    html = words_of(library.mate, note="Other.md", q="gardens path:Ops")
    assert "filters of the query leave it out" in html
    html = words_of(library.mate, note="Ops/Pumps.md", q="pump path:Ops")
    assert "filters of the query let it through" in html


def test_missing_vectors_and_a_paused_vault_are_told(library: Cast) -> None:
    write_note(library.vault, "New.md", "A fresh page about boilers.")
    Vault.objects.filter(slug="team").update(state=Vault.State.PAUSED)
    html = words_of(library.mate, note="New.md", q="boilers")
    assert "1 of its passages wait" in html
    assert "paused" in html
    Vault.objects.filter(slug="team").update(embedding_model=None)
    assert "keywords only" in words_of(library.mate, note="New.md", q="boilers")


def test_a_file_that_is_no_note_shows_what_the_last_run_said(library: Cast) -> None:
    SyncRun.objects.create(
        vault=library.vault,
        finished=timezone.now(),
        warnings=[{"path": "x/Lost.md", "reason": "Permission denied.", "line": None}],
    )
    html = words_of(library.mate, note="lost.md", q="words")
    assert "No note of this vault" in html
    assert "x/Lost.md: Permission denied." in html


def test_notes_of_other_vaults_are_as_good_as_missing(library: Cast) -> None:
    assert ask(library.mate, vault=library.foreign_vault.slug, note="x", q="y").status_code == 404
    assert "No note of this vault" in words_of(library.mate, note="Secret.md", q="blue pump")


def test_the_vaults_page_leads_there_and_odd_input_is_borne(library: Cast) -> None:
    client = Client()
    client.force_login(library.mate)
    assert reverse("search-why") in client.get("/vaults/team/").content.decode()
    assert ask(library.mate, vault="team").status_code == 200
    assert "Nothing was asked." in words_of(library.mate, note="Other.md", q=" ")
    odd = '"><script>\0'
    html = words_of(library.mate, note=odd, q=odd)
    assert escape(odd.replace("\0", "")) in html
    assert "<script>\0" not in html
