"""Why a query does not find a note."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from tests.cast import Cast
from tests.retrieval.library import embed, make_embedding_model, write_markdown, write_note
from vault.models import Note, SyncRun, Vault, VaultMember
from vault.sync import sync_vault

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


def test_of_a_long_query_it_says_what_was_searched(library: Cast) -> None:
    html = words_of(library.mate, note="Ops/Pumps.md", q="blue pump " * 150)
    assert re.search(r"Only the first \d+ of 1499 characters of the text were searched", html)


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


def real_vault(cast: Cast, folder: Path, **files: str) -> None:
    """The team's vault over a real folder, read by the real sync."""
    for name, text in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    cast.vault.place = str(folder)
    cast.vault.save()
    sync_vault(cast.vault.pk)


def test_a_file_that_a_rule_leaves_out_names_the_rule(cast: Cast, tmp_path: Path) -> None:
    rules = {".brainignore": "Private/\n", "Private__Diary.md": "Dear diary.", "A.md": "Text."}
    real_vault(cast, tmp_path, **rules)
    html = words_of(cast.owner, note="Private/Diary.md", q="diary")
    assert escape("The file is there, and the rule “Private/” leaves it out.") in html
    cast.vault.templates_folder = "Templates"
    cast.vault.save()
    (tmp_path / "Templates").mkdir()
    (tmp_path / "Templates/Day.md").write_text("Day")
    html = words_of(cast.owner, note="Templates/Day.md", q="day")
    assert escape("the rule “/Templates/” leaves it out") in html


def test_files_that_are_not_read_yet_no_note_or_gone_are_told_apart(
    cast: Cast, tmp_path: Path
) -> None:
    real_vault(cast, tmp_path, **{"A.md": "Text."})
    (tmp_path / "New.md").write_text("New.")
    (tmp_path / "song.mp3").write_bytes(b"x")
    assert "not read yet: sync the vault" in words_of(cast.owner, note="New.md", q="new")
    assert "of no kind that is read" in words_of(cast.owner, note="song.mp3", q="song")
    assert "There is no file of this path" in words_of(cast.owner, note="None.md", q="x")
    for odd in ("../../etc/passwd", "/etc/passwd", "a\\..\\b"):
        assert "The file is there" not in words_of(cast.owner, note=odd, q="x")


def test_a_file_that_is_too_large_says_so(cast: Cast, tmp_path: Path) -> None:
    cast.vault.largest_note_kb = 1
    cast.vault.save()
    real_vault(cast, tmp_path, **{"Large.md": "word " * 1000})
    html = words_of(cast.owner, note="Large.md", q="word")
    assert "not searchable" in html or "Large.md:" in html
    assert "kB" in html or "large" in html.lower()


def test_a_note_whose_file_changed_since_is_stale(cast: Cast, tmp_path: Path) -> None:
    real_vault(cast, tmp_path, **{"A.md": "The old text."})
    assert "changed since it was read" not in words_of(cast.owner, note="A.md", q="text")
    (tmp_path / "A.md").write_text("The new text, which is longer.")
    assert "changed since it was read" in words_of(cast.owner, note="A.md", q="longer")
    (tmp_path / "A.md").unlink()
    assert "is gone or left out now" in words_of(cast.owner, note="A.md", q="text")


def test_an_owner_asks_why_somebody_else_does_not_find_it(library: Cast) -> None:
    asked = {"note": "Ops/Pumps.md", "q": "blue pump"}
    mate = words_of(library.owner, who=library.mate.email, **asked)
    assert "may read it" in mate
    assert "it is number 1" in mate
    outsider = words_of(library.owner, who=library.outsider.email, **asked)
    assert "is no member of this vault" in outsider
    assert "Search does not find it" in outsider
    VaultMember.objects.filter(user=library.mate).update(hidden_folders=["Ops"])
    closed = words_of(library.owner, who=library.mate.email, **asked)
    assert "does not open the folder" in closed
    nobody = words_of(library.owner, who="x@example.com", **asked)
    assert "x@example.com is no member of this vault" in nobody
    assert "For another member" not in words_of(library.mate, **asked)
    assert "is no member" not in words_of(library.mate, who=library.outsider.email, **asked)


def test_a_note_that_others_outrank_says_which(cast: Cast) -> None:
    for number in range(25):
        write_note(cast.vault, f"Better {number}.md", "wrench wrench wrench")
    write_note(cast.vault, "Last.md", "One wrench among " + "many other words " * 60)
    html = words_of(cast.owner, note="Last.md", q="wrench")
    assert "25 other notes come first, such as Better" in html
    assert "it is number 26" in html


def test_a_golden_note_says_that_it_is_never_searched(cast: Cast) -> None:
    write_markdown(cast.vault, "golden-questions.md", "- Who? -> [[Heron]]\n")
    html = words_of(cast.owner, note="golden-questions.md", q="who")
    assert "golden questions, which are read but never searched" in html
