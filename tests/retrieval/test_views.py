"""The search page: as a form, while somebody types, and when things go wrong."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from django.utils.html import escape

from retrieval.presenters.results import segments
from tests.cast import Cast, make_vault
from tests.retrieval.library import embed, make_embedding_model, write_note
from vault.models import Chunk, VaultMember

pytestmark = pytest.mark.django_db


@pytest.fixture
def library(cast: Cast) -> Cast:
    write_note(cast.vault, "Ops/Pumps.md", "The blue pump stands in the cellar.")
    write_note(cast.foreign_vault, "Secret.md", "The blue pump of somebody else.")
    embed(cast.vault, make_embedding_model())
    return cast


def page(user: Any, *, typing: bool = False, **params: Any) -> Any:
    client = Client()
    client.force_login(user)
    headers = {"HX-Request": "true"} if typing else {}
    return client.get(reverse("search"), params, headers=headers)


def text_of(response: Any) -> str:
    return str(response.content.decode())


def test_a_stranger_is_sent_to_sign_in() -> None:
    assert Client().get(reverse("search")).status_code == 302


def test_the_empty_page_says_what_to_do(library: Cast) -> None:
    answer = page(library.owner)
    assert answer.status_code == 200
    assert "Type a word, a name or a whole question." in text_of(answer)


def test_notes_that_only_come_near_are_told_apart(library: Cast) -> None:
    near = "No note has these words."
    assert near in text_of(page(library.owner, q="zzqqxx wwvvyy"))
    assert near not in text_of(page(library.owner, q="blue wwvvyy"))
    assert near not in text_of(page(library.owner, q="zzqqxx wwvvyy", mode="semantic"))


def test_a_reader_of_no_vault_learns_whom_to_ask(cast: Cast) -> None:
    VaultMember.objects.filter(user=cast.owner).delete()
    content = text_of(page(cast.owner, q="pump"))
    assert "Ask the owner of a vault" in content
    assert "Try other words" not in content


def test_words_of_every_text_are_not_marked(library: Cast) -> None:
    content = text_of(page(library.owner, q="where is the blue pump in the cellar", mode="keyword"))
    assert "The <mark>blue</mark> <mark>pump</mark> stands in the <mark>cellar</mark>" in content
    assert "<mark>The</mark>" in text_of(page(library.owner, q="the", mode="keyword"))


def test_the_page_works_as_a_plain_form(library: Cast) -> None:
    content = text_of(page(library.owner, q="blue pump", mode="hybrid"))
    assert "<html" in content
    assert 'value="blue pump"' in content
    assert "<mark>blue</mark>" in content
    assert "1 note" in content
    assert "Keywords: place 1 · Meaning: place 1" in content
    assert f"{reverse('note', args=['team', 'Ops/Pumps.md'])}?span=0-35" in content
    assert "Secret" not in content


def test_while_typing_only_the_results_are_sent(library: Cast) -> None:
    answer = page(library.owner, typing=True, q="blue pump")
    assert "<html" not in text_of(answer)
    assert "<mark>pump</mark>" in text_of(answer)
    assert "HX-Request" in answer.headers["Vary"]
    assert "no-store" in answer.headers["Cache-Control"]


def test_the_address_keeps_mode_and_vaults(library: Cast) -> None:
    make_vault("second", owner=library.owner)
    content = text_of(page(library.owner, q="pump", mode="keyword", vault="team"))
    assert re.search(r'name="mode" value="keyword" checked', content)
    assert re.search(r'name="vault" value="team" checked', content)
    assert re.search(r'name="vault" value="second">', content)
    assert "foreign" not in content.lower()


def test_nothing_found_says_what_to_try(library: Cast) -> None:
    content = text_of(page(library.owner, q="zzzz", mode="keyword"))
    assert "No note found for “zzzz”." in content
    assert "Try Both" in content


def test_a_skipped_arm_is_shown_with_its_reason(library: Cast) -> None:
    library.vault.embedding_model = None
    library.vault.save()
    content = text_of(page(library.owner, q="blue pump"))
    assert "Team is searched by keyword only" in content


def test_an_unknown_vault_is_an_error_with_a_way_out(library: Cast) -> None:
    answer = page(library.owner, q="pump", vault="teem")
    assert answer.status_code == 400
    assert "Did you mean team?" in text_of(answer)
    typing = page(library.owner, typing=True, q="pump", vault="teem")
    assert typing.status_code == 200
    assert "Did you mean team?" in text_of(typing)


def test_a_database_that_gives_up_is_said(library: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    async def give_up(*args: object, **kwargs: object) -> None:
        raise OperationalError("canceling statement due to statement timeout")

    monkeypatch.setattr("retrieval.views.search_notes", give_up)
    answer = page(library.owner, q="pump")
    assert answer.status_code == 503
    assert "took too long" in text_of(answer)


def test_hostile_text_stays_text(library: Cast) -> None:
    evil = "<script>alert(1)</script> pump <img src=x onerror=alert(1)>"
    write_note(library.vault, f"{evil[:20]}.md", evil, title=evil)
    content = text_of(page(library.owner, q=evil))
    assert "<script>alert" not in content
    assert "<img src=x" not in content
    assert escape("<img src=x") in content


def test_a_note_that_was_superseded_says_so(library: Cast) -> None:
    write_note(
        library.vault, "Old.md", "The old restore runbook.",
        properties={"superseded_by": "[[Pumps]]", "status": "old"},
    )  # fmt: skip
    write_note(
        library.vault, "Ended.md", "The runbook of the winter.",
        properties={"valid_until": "2024-12-31"},
    )  # fmt: skip
    content = text_of(page(library.owner, q="restore runbook winter"))
    assert "Superseded by Pumps" in content
    assert "Valid until 2024-12-31" in content


def test_more_is_offered_when_the_page_is_full(library: Cast) -> None:
    for number in range(25):
        write_note(library.vault, f"{number}.md", "The same wrench.")
    assert "Show more" in text_of(page(library.owner, q="wrench", mode="keyword"))
    all_of_them = text_of(page(library.owner, q="wrench", mode="keyword", limit=100))
    assert "25 notes" in all_of_them
    assert "Show more" not in all_of_them


def test_segments_joined_are_the_text() -> None:
    pieces = segments("one two three", [(0, 3), (8, 13)])
    assert "".join(piece.text for piece in pieces) == "one two three"
    assert [piece.text for piece in pieces if piece.is_marked] == ["one", "three"]


def test_a_hit_shows_what_a_model_said_of_its_passage(library: Cast) -> None:
    Chunk.objects.filter(note__path="Ops/Pumps.md").update(summary="Where the <blue> pump is.")
    assert "Where the &lt;blue&gt; pump is." in text_of(page(library.owner, q="blue pump"))
