"""Vaults and notes for scripts: the same rights, the same 404."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from tests.cast import Cast, make_vault
from tests.vault.notes import make_link, make_model, make_note, make_vector
from vault import access
from vault.api import MOST_LINKED
from vault.models import Note, Vault
from vault.presenters import vault_rows
from vault.tokens import create_token

BODY = "intro\n# A\na words\n## B\nb words\n"
HEADINGS = [
    {"level": 1, "text": "A", "start": 6, "line": 2},
    {"level": 2, "text": "B", "start": 18, "line": 4},
]


def get(user: User | None, url: str) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {create_token(user)}"} if user else {}
    response = Client(headers=headers).get(url)
    return response.status_code, response.json()


@pytest.fixture
def note(cast: Cast) -> Note:
    return make_note(cast.vault, "x/a.md", BODY, headings=HEADINGS, tags=["t"])


@pytest.mark.parametrize("part", ["", "/similar", "/section?path=A"])
def test_a_note_by_every_one_of_the_cast(cast: Cast, note: Note, part: str) -> None:
    url = f"/api/notes/{note.pk}{part}"
    missing = f"/api/notes/{note.pk + 1000}{part}"
    assert get(cast.owner, url)[0] == 200
    assert get(cast.mate, url)[0] == 200
    assert (
        get(cast.outsider, url)
        == get(cast.outsider, missing)
        == (
            404,
            {"code": "not_found", "detail": "No such note."},
        )
    )
    assert get(None, url)[0] == get(None, missing)[0] == 401


@pytest.mark.parametrize("url", ["/api/vaults", "/api/index/status"])
def test_lists_need_somebody(cast: Cast, url: str) -> None:
    assert get(None, url)[0] == 401
    assert get(cast.mate, url)[0] == 200


def test_vaults_are_those_one_may_read(cast: Cast, note: Note) -> None:
    _, rows = get(cast.mate, "/api/vaults")
    assert rows == [{"slug": "team", "name": "Team", "role": "reader", "notes": 1,
                     "searchable": 1, "last_sync": None}]  # fmt: skip


def test_vaults_stand_by_name_without_regard_to_capitals_and_marks(cast: Cast) -> None:
    for slug, name in [("z-first", "alpha"), ("a-last", "Wiki"), ("m", "beta"), ("same", "beta"),
                       ("umlaut", "Ärzte")]:  # fmt: skip
        made = make_vault(slug, owner=cast.owner)
        Vault.objects.filter(pk=made.pk).update(name=name)
    ordered = ["z-first", "umlaut", "m", "same", "team", "a-last"]
    assert [row.vault.slug for row in vault_rows(cast.owner)] == ordered
    assert [row["slug"] for row in get(cast.owner, "/api/vaults")[1]] == ordered
    assert [row["slug"] for row in get(cast.owner, "/api/index/status")[1]["vaults"]] == ordered
    for readers in (access.visible_to, access.editable_by, access.owned_by, access.evaluated_by):
        assert [vault.slug for vault in readers(cast.owner)] == ordered


def test_a_note_has_its_text_sections_and_links(cast: Cast, note: Note) -> None:
    other = make_note(cast.vault, "b.md")
    hidden = make_note(cast.foreign_vault, "hidden.md")
    make_link(note, other)
    make_link(other, note)
    make_link(hidden, note)
    _, data = get(cast.mate, f"/api/notes/{note.pk}")
    assert (data["body"], data["path"], data["tags"]) == (BODY, "x/a.md", ["t"])
    assert data["sections"] == [["A"], ["A", "B"]]
    reference = {"note_id": other.pk, "vault": "team", "path": "b.md", "title": "b"}
    assert data["links"] == data["backlinks"] == [reference]
    assert data["more_links"] == data["more_backlinks"] == 0


def test_a_note_that_many_link_to_names_some_and_counts_the_others(cast: Cast, note: Note) -> None:
    for number in range(MOST_LINKED + 3):
        make_link(make_note(cast.vault, f"{number:03}.md"), note)
    _, data = get(cast.mate, f"/api/notes/{note.pk}")
    assert (len(data["backlinks"]), data["more_backlinks"]) == (MOST_LINKED, 3)
    assert data["backlinks"][0]["path"] == "000.md"


def test_a_section_is_only_that_section(cast: Cast, note: Note) -> None:
    status, data = get(cast.mate, f"/api/notes/{note.pk}/section?path=A&path=B")
    assert status == 200
    assert data["text"] == "## B\nb words"
    assert data["heading_path"] == ["A", "B"]
    assert BODY[slice(*data["span"])] == data["text"]
    assert data["tokens"] > 0
    assert get(cast.mate, f"/api/notes/{note.pk}/section?path=A+%3E+B")[1] == data


@pytest.mark.parametrize("query", ["?path=Nowhere", "", "?path=", "?path=B&path=A"])
def test_a_section_that_is_not_there_gives_the_list_and_never_the_note(
    cast: Cast, note: Note, query: str
) -> None:
    status, data = get(cast.mate, f"/api/notes/{note.pk}/section{query}")
    assert status == 404
    assert data["sections"] == [["A"], ["A", "B"]]
    assert "words" not in json.dumps(data)


def test_around_a_place_only_its_sentences_are_given(cast: Cast, note: Note) -> None:
    start = BODY.index("b words")
    _, data = get(cast.mate, f"/api/notes/{note.pk}/section?around={start}-{start + 1}")
    assert (data["text"], data["heading_path"]) == ("b words", ["A", "B"])
    assert BODY[slice(*data["span"])] == "b words"
    assert (data["before"], data["after"]) == (None, None)


def test_a_place_that_is_gone_gives_the_list_and_what_is_none_is_refused(
    cast: Cast, note: Note
) -> None:
    for place in ("9000-9001", "0-3.0000"):
        status, data = get(cast.mate, f"/api/notes/{note.pk}/section?around={place}")
        assert (status, data["sections"]) == (404, [["A"], ["A", "B"]])
    status, data = get(cast.mate, f"/api/notes/{note.pk}/section?around=there")
    assert (status, data) == (
        400,
        {
            "code": "bad_request",
            "detail": "around: Give a place such as 120-151.",
            "fields": {"around": ["Give a place such as 120-151."]},
        },
    )


def test_similar_notes_are_nearest_first(cast: Cast, note: Note) -> None:
    model = make_model(cast.vault)
    near, far = make_note(cast.vault, "near.md"), make_note(cast.vault, "far.md")
    for row, numbers in ((note, (1, 0, 0, 0)), (near, (1, 0.1, 0, 0)), (far, (0, 1, 0, 0))):
        make_vector(row, model, *numbers)
    _, data = get(cast.mate, f"/api/notes/{note.pk}/similar?limit=1")
    assert [row["title"] for row in data["results"]] == ["near"]
    assert data["reason"] == ""


def test_without_vectors_the_answer_says_so(cast: Cast, note: Note) -> None:
    _, data = get(cast.mate, f"/api/notes/{note.pk}/similar")
    assert data["results"] == []
    assert "no vector" in data["reason"]


@pytest.mark.parametrize("limit", ["0", "21", "-1", "x", "", "1e3"])
def test_a_limit_that_makes_no_sense_is_refused(cast: Cast, note: Note, limit: str) -> None:
    status, data = get(cast.mate, f"/api/notes/{note.pk}/similar?limit={limit}")
    assert status == 400
    assert "1 to 20" in data["fields"]["limit"][0]


def test_an_id_beyond_the_database_is_not_found(cast: Cast) -> None:
    assert get(cast.mate, f"/api/notes/{10**30}")[0] == 404


def test_the_status_is_that_of_the_command_for_readable_vaults(
    cast: Cast, note: Note, capsys: pytest.CaptureFixture[str]
) -> None:
    _, data = get(cast.mate, "/api/index/status")
    assert [row["slug"] for row in data["vaults"]] == ["team"]
    call_command("index_status", "team", "--json")
    assert json.loads(capsys.readouterr().out) == data
