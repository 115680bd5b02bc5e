"""Search for scripts: one form from the API and from the command."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from tests.cast import Cast, make_user, make_vault
from tests.retrieval.library import embed, make_embedding_model, write_note
from vault.models import Note
from vault.tokens import create_token

pytestmark = pytest.mark.django_db

URL = "/api/search"


@pytest.fixture
def library(cast: Cast) -> Cast:
    write_note(cast.vault, "Ops/Pumps.md", "The blue pump stands in the cellar.")
    write_note(cast.vault, "Payroll.md", "The payroll export is written every night.")
    write_note(cast.foreign_vault, "Secret.md", "The blue pump of somebody else.")
    embed(cast.vault, make_embedding_model())
    return cast


def get(user: Any, **params: Any) -> Any:
    client = Client(headers={"authorization": f"Bearer {create_token(user)}"})
    return client.get(URL, params)


def test_the_answer_has_the_stable_form(library: Cast) -> None:
    answer = get(library.owner, q="blue pump", limit=1).json()
    note = Note.objects.get(path="Ops/Pumps.md")
    assert set(answer) == {"results", "arms", "timings", "notices"}
    assert answer["results"] == [
        {
            "rank": 1,
            "note_id": note.pk,
            "vault": "team",
            "path": "Ops/Pumps.md",
            "title": "Pumps",
            "heading_path": ["Pumps"],
            "snippet": "The blue pump stands in the cellar.",
            "arms": ["keyword 1", "meaning 1"],
            "span": [0, 35],
            "around": "0-35.39e6",
            "updated_at": note.file_modified.isoformat(),
            "date": note.file_modified.date().isoformat(),
            "status": "",
            "superseded_by": "",
            "valid_until": "",
            "also_in": [],
        }
    ]
    assert answer["arms"]["meaning"] == {"ran": True, "reason": "", "found": 2, "path": "exact"}
    assert set(answer["timings"]) == {"embed", "search", "total"}


def test_a_note_says_of_which_day_it_is_and_whether_it_holds(library: Cast) -> None:
    said = {"date": "2024-01-01", "superseded_by": "[[New mill]]"}
    write_note(library.vault, "Old mill.md", "The old mill.", properties=said)
    write_note(library.vault, "Daily/2026-03-14.md", "The mill was mended.")
    found = {hit["path"]: hit for hit in get(library.owner, q="mill").json()["results"]}
    assert found["Old mill.md"]["date"] == "2024-01-01"
    assert found["Old mill.md"]["superseded_by"] == "New mill"
    assert found["Daily/2026-03-14.md"]["date"] == "2026-03-14"
    of_that_day = get(library.owner, q="mill", after="2026-03-14", before="2026-03-15").json()
    assert [hit["path"] for hit in of_that_day["results"]] == ["Daily/2026-03-14.md"]


def test_the_command_gives_the_same(library: Cast) -> None:
    out = io.StringIO()
    call_command("search", "blue pump", "--user", library.owner.email, "--json", stdout=out)
    by_command = json.loads(out.getvalue())
    by_api = get(library.owner, q="blue pump").json()
    assert by_command["results"] == by_api["results"]
    assert by_command["arms"] == by_api["arms"]


def test_modes_and_vaults_narrow(library: Cast) -> None:
    second = make_vault("second", owner=library.owner)
    write_note(second, "Two.md", "A second blue pump.")
    keyword = get(library.owner, q="blue pump", mode="keyword", vault=["second"]).json()
    assert [hit["path"] for hit in keyword["results"]] == ["Two.md"]
    assert keyword["arms"]["meaning"]["ran"] is False
    assert keyword["arms"]["meaning"]["reason"]


def test_rights_hold(library: Cast) -> None:
    assert [hit["path"] for hit in get(library.outsider, q="blue pump").json()["results"]] == [
        "Secret.md"
    ]
    assert get(make_user("nobody"), q="blue pump").json()["results"] == []
    assert Client().get(URL, {"q": "pump"}).status_code == 401


@pytest.mark.parametrize(
    ("params", "name", "said"),
    [
        ({"mode": "fuzzy"}, "mode", "keyword, semantic or hybrid"),
        ({"limit": "many"}, "limit", "limit=20"),
        ({"vault": "teem"}, "vault", "Did you mean team?"),
    ],
)
def test_what_means_nothing_is_refused_with_what_would(
    library: Cast, params: dict[str, str], name: str, said: str
) -> None:
    answer = get(library.owner, q="pump", **params)
    assert answer.status_code == 400
    assert said in answer.json()["fields"][name][0]


def test_a_slip_in_a_name_is_refused_since_it_would_let_everything_through(library: Cast) -> None:
    reply = get(library.owner, q="blue pump", tags="payroll")
    assert reply.status_code == 400
    assert "Did you mean “tag”?" in reply.json()["fields"]["tags"][0]


def test_a_forbidden_vault_is_as_unknown_as_a_missing_one(library: Cast) -> None:
    forbidden = get(library.owner, q="pump", vault="foreign")
    missing = get(library.owner, q="pump", vault="nowhere")
    assert forbidden.status_code == missing.status_code == 400
    said = forbidden.json()["fields"]["vault"][0]
    assert said.replace("foreign", "nowhere") == missing.json()["fields"]["vault"][0]
    assert "team" in said


@pytest.mark.parametrize("query", ["", "  ", "\x00"])
def test_an_empty_query_finds_nothing(library: Cast, query: str) -> None:
    answer = get(library.owner, q=query)
    assert answer.status_code == 200
    assert answer.json()["results"] == []


@pytest.mark.parametrize(("limit", "found"), [("0", 0), ("-5", 0), ("1", 1), ("100000", 2)])
def test_limits_are_met_or_capped(library: Cast, limit: str, found: int) -> None:
    assert len(get(library.owner, q="blue pump payroll", limit=limit).json()["results"]) == found


def test_the_schema_describes_the_search(library: Cast) -> None:
    client = Client()
    client.force_login(library.owner)
    schema = client.get("/api/schema/", {"format": "json"}).json()
    operation = schema["paths"]["/api/search"]["get"]
    assert {p["name"] for p in operation["parameters"]} == {
        *("q", "vault", "mode", "limit"),
        *("folder", "path", "tag", "prop", "kind", "after", "before"),
    }


def run(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("search", *arguments, stdout=out, stderr=err)
    except SystemExit as end:
        return int(str(end.code)), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def test_the_command_prints_places_and_snippets(library: Cast) -> None:
    code, out, err = run("blue pump", "--user", library.owner.email, "--limit", "1")
    assert code == 0
    assert "1 team/Ops/Pumps.md  (keyword 1, meaning 1)" in out
    assert "The blue pump stands" in out
    assert err == ""


def test_finding_nothing_is_exit_code_one_with_valid_json(library: Cast) -> None:
    code, out, _err = run("zzzz", "--user", library.owner.email, "--mode", "keyword", "--json")
    assert code == 1
    assert json.loads(out)["results"] == []


def test_the_command_acts_for_the_only_superuser_or_asks(library: Cast) -> None:
    with pytest.raises(CommandError, match="no superuser"):
        run("pump")
    make_user("admin", is_superuser=True)
    assert run("pump")[0] == 1
    make_user("second", is_superuser=True)
    with pytest.raises(CommandError, match="more than one superuser"):
        run("pump")
    with pytest.raises(CommandError, match=r"no active user has the e-mail x@example\.com"):
        run("pump", "--user", "x@example.com")


def test_the_command_refuses_what_means_nothing(library: Cast) -> None:
    with pytest.raises(CommandError, match="--vault: No vault") as refused:
        run("pump", "--user", library.owner.email, "--vault", "teem")
    assert refused.value.returncode == 2
