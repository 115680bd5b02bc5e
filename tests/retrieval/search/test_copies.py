"""Notes that say the same are one hit, which names the others that its reader may read."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.management import call_command
from django.test import Client

from providers.models import EmbeddingModel
from retrieval.core.types import Knobs, Mode, Passage
from retrieval.pipeline import retrieve
from retrieval.search import search_notes
from tests.cast import Cast
from tests.retrieval.library import MODIFIED, embed, write_note
from tests.retrieval.search.asking import paths, search
from vault.access import User, scope_for
from vault.lexemes import refresh_lexemes
from vault.models import Note, VaultMember

pytestmark = pytest.mark.django_db

SEAL = "The seal of the blue pump is changed every second May by the plumber from Ulm."
QUERY = "Who changes the seal of the blue pump?"


@pytest.fixture
def copies(cast: Cast, model: EmbeddingModel) -> Cast:
    """One text in three notes of two folders, and a text that differs from it by a word."""
    for path, text in (
        ("Ops/Pump.md", SEAL),
        ("Ops/Pump (conflicted copy).md", f"{SEAL}\n"),
        ("Closed/Pump.md", SEAL),
        ("Ops/Other.md", SEAL.replace("second", "third")),
    ):
        write_note(cast.vault, path, text)
    Note.objects.filter(path="Ops/Pump.md").update(file_modified=MODIFIED + timedelta(days=1))
    embed(cast.vault, model)
    refresh_lexemes(force=True)
    member = VaultMember.objects.filter(vault=cast.vault, user=cast.mate)
    member.update(hidden_folders=["Closed"])
    return cast


def passages(user: User) -> list[Passage]:
    found = async_to_sync(retrieve)(QUERY, history=[], scope=scope_for(user), knobs=Knobs())
    return list(found.passages)


def test_copies_are_one_hit_that_names_the_others(copies: Cast) -> None:
    for mode in Mode:
        result = search(copies.owner, QUERY, mode)
        assert sorted(paths(result)) == ["Ops/Other.md", "Ops/Pump.md"], mode
        hit = next(hit for hit in result.hits if hit.path == "Ops/Pump.md")
        also = [copy.path for copy in hit.also_in]
        assert also == ["Closed/Pump.md", "Ops/Pump (conflicted copy).md"], mode
        assert [hit.rank for hit in result.hits] == [1, 2]


def test_a_copy_in_a_closed_folder_is_not_named(copies: Cast) -> None:
    result = search(copies.mate, QUERY)
    also = [copy.path for hit in result.hits for copy in hit.also_in]
    assert also == ["Ops/Pump (conflicted copy).md"]
    assert [copy.path for p in passages(copies.mate) for copy in p.also_in] == also


def test_chat_reads_one_of_them_and_knows_the_others(copies: Cast) -> None:
    read = {passage.path: passage for passage in passages(copies.owner)}
    assert sorted(read) == ["Ops/Other.md", "Ops/Pump.md"]
    also = [copy.path for copy in read["Ops/Pump.md"].also_in]
    assert also == ["Closed/Pump.md", "Ops/Pump (conflicted copy).md"]
    assert read["Ops/Other.md"].also_in == ()


def test_a_note_that_shares_a_part_of_a_passage_says_not_the_same(
    cast: Cast, model: EmbeddingModel
) -> None:
    """Three notes with one drill, in which the rule above it differs by a word."""
    drill = "The drill of the blue pump is held every May, and the plumber from Ulm writes it up."
    rule = "The seal of the blue pump {} be changed by the plumber from Ulm without a permit."
    for path, word in (("1.md", "must"), ("2.md", "must not"), ("3.md", "must")):
        write_note(cast.vault, path, rule.format(word), drill)
    embed(cast.vault, model)
    refresh_lexemes(force=True)
    read = passages(cast.owner)
    by_path = {passage.path: passage for passage in read}
    first = by_path.get("1.md") or by_path["3.md"]
    assert drill in first.text
    assert sorted([first.path, *(copy.path for copy in first.also_in)]) == ["1.md", "3.md"]
    assert "must not" in by_path["2.md"].text
    assert by_path["2.md"].also_in == ()


def test_copies_take_the_room_of_no_other_note(cast: Cast, model: EmbeddingModel) -> None:
    # More than a look at 9 candidates and one at 72 take in.
    for number in range(80):
        write_note(cast.vault, f"Daily/{number:02}.md", SEAL)
    for number in range(12):
        write_note(cast.vault, f"{number}.md", f"Notes of year {number} on the seal of a pump.")
    embed(cast.vault, model)
    refresh_lexemes(force=True)
    scope = scope_for(cast.owner)
    few, usual = Knobs(depth=5), Knobs()
    for limit, knobs in ((3, few), (10, usual)):
        found, again = (
            async_to_sync(search_notes)(
                QUERY, scope=scope, mode=Mode.HYBRID, limit=limit, knobs=knobs
            )
            for _time in range(2)
        )
        assert len({hit.note_id for hit in found.hits}) == limit
        assert found.hits == again.hits
        assert len(found.hits[0].also_in) == 79
        assert found.hits[0].arms == ("keyword 1", "meaning 1")
    read = passages(cast.owner)
    assert len(read) == Knobs().passages
    assert len({passage.text for passage in read}) == len(read)


def test_filters_alone_list_every_copy(copies: Cast) -> None:
    listed = search(copies.owner, "folder:Ops")
    assert len(listed.hits) == 3
    assert not any(hit.also_in for hit in listed.hits)


def test_scripts_are_told_of_the_copies(copies: Cast, client: Client) -> None:
    client.force_login(copies.owner)
    rows = client.get("/api/search", {"q": QUERY}).json()["results"]
    row = next(row for row in rows if row["path"] == "Ops/Pump.md")
    copy = Note.objects.get(path="Closed/Pump.md")
    assert row["also_in"][0] == {
        "note_id": copy.pk,
        "vault": "team",
        "path": "Closed/Pump.md",
        "title": "Pump",
        "span": [0, len(SEAL)],
        "outdated": False,
    }
    told = StringIO()
    call_command("search", QUERY, user=copies.owner.email, json=True, stdout=told)
    assert json.loads(told.getvalue())["results"] == rows
    said = StringIO()
    call_command("search", QUERY, user=copies.owner.email, stdout=said)
    others = "team/Closed/Pump.md, team/Ops/Pump (conflicted copy).md"
    assert f"    also in: {others}\n" in said.getvalue()
    Note.objects.filter(path="Ops/Other.md").update(properties={"superseded_by": "[[Pump]]"})
    told = StringIO()
    call_command("search", QUERY, user=copies.owner.email, stdout=told)
    assert "    superseded by: Pump\n" in told.getvalue()


def test_the_page_links_to_the_copies_and_counts_them(copies: Cast, client: Client) -> None:
    Note.objects.filter(path="Closed/Pump.md").update(properties={"status": "archived"})
    client.force_login(copies.owner)
    page = client.get("/search", {"q": QUERY})
    assert [row.title for row in page.context["rows"]].count("Pump") == 1
    html: Any = " ".join(page.content.decode().split())
    assert "2 notes · " in html
    assert "2 other notes say the same" in html
    assert "/vaults/team/notes/Closed/Pump.md?span=0-" in html
    assert "Closed/Pump.md</a> <small>(no longer holds)</small>" in html
