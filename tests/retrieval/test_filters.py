"""Filters choose notes in every arm, on every door, within the rights of who asks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.html import escape
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from providers.models import EmbeddingModel
from retrieval.core.query import clean
from retrieval.core.types import Mode, SearchResult
from retrieval.facts import ScopeFacts, scope_facts
from retrieval.filters import suggestions_for
from retrieval.forms import Given, Unreadable, read_asked
from retrieval.search import search_notes
from tests.cast import Cast, make_vault
from tests.retrieval.library import embed, make_embedding_model, write_note
from vault.access import scope_for
from vault.core.types import Scope
from vault.models import Chunk, Note, Vault
from vault.presenters import PageAddresses

pytestmark = pytest.mark.django_db


def write(vault: Vault, path: str, *tags: str, day: str = "", text: str = "") -> Note:
    properties: dict[str, object] = {"date": day} if day else {}
    note = write_note(vault, path, text or f"The pump of {path}.", properties=properties)
    Note.objects.filter(pk=note.pk).update(tags=list(tags))
    return note


@pytest.fixture
def library(cast: Cast) -> Cast:
    write(cast.vault, "Ops/Pumps.md", "project/Alpha", "blue", day="2026-01-31")
    write(cast.vault, "Ops/Old.md", "project", "draft", day="2025-05-01T10:00:00Z")
    write(cast.vault, "Opsy.md", "projects")
    write(cast.vault, "Home/My notes/Pump.md", day="2026-02-31")
    write(cast.foreign_vault, "Ops/Secret.md", "project/secret", day="2026-01-31")
    embed(cast.vault, make_embedding_model())
    return cast


def search(cast: Cast, query: str, *, mode: Mode = Mode.HYBRID) -> SearchResult:
    return async_to_sync(search_notes)(query, scope=scope_for(cast.owner), mode=mode, limit=20)


def paths(found: SearchResult) -> set[str]:
    return {hit.path for hit in found.hits}


CHOICES = [
    ("path:ops/", {"Ops/Pumps.md", "Ops/Old.md"}),
    ("path:Ops", {"Ops/Pumps.md", "Ops/Old.md", "Opsy.md"}),
    ("path:Ops/Pumps.md", {"Ops/Pumps.md"}),
    ('path:"Home/My notes"', {"Home/My notes/Pump.md"}),
    ("tag:project", {"Ops/Pumps.md", "Ops/Old.md"}),
    ("tag:#PROJECT/alpha", {"Ops/Pumps.md"}),
    ("tag:project -tag:draft", {"Ops/Pumps.md"}),
    ("-path:Ops", {"Home/My notes/Pump.md"}),
    ("tag:blue tag:project", {"Ops/Pumps.md"}),
    ("after:2026-01-31", {"Ops/Pumps.md", "Opsy.md", "Home/My notes/Pump.md"}),
    ("before:2026-01-31", {"Ops/Old.md"}),
    ("after:2026-02 before:2026-03", {"Home/My notes/Pump.md"}),
    ("after:2026-03-01 before:2026-03-02", {"Opsy.md"}),
    ("path:Ops/ after:2027", set()),
    ("folder:Ops", {"Ops/Pumps.md", "Ops/Old.md"}),
    ("folder:home", {"Home/My notes/Pump.md"}),
    ("kind:note folder:Ops", {"Ops/Pumps.md", "Ops/Old.md"}),
    ("vault:team tag:blue", {"Ops/Pumps.md"}),
    ("[date:2026-01-31]", {"Ops/Pumps.md"}),
    ("prop:Date", {"Ops/Pumps.md", "Ops/Old.md", "Home/My notes/Pump.md"}),
    ("-[date:2026-01-31] folder:Ops", {"Ops/Old.md"}),
]


@pytest.mark.parametrize(("filters", "found"), CHOICES)
@pytest.mark.parametrize("mode", list(Mode))
def test_every_arm_keeps_to_the_filters(
    library: Cast, filters: str, found: set[str], mode: Mode
) -> None:
    assert paths(search(library, f"pump {filters}", mode=mode)) == found


@pytest.mark.parametrize(("filters", "found"), CHOICES)
def test_filters_alone_list_their_notes(library: Cast, filters: str, found: set[str]) -> None:
    assert paths(search(library, filters)) == found


def test_the_newest_of_a_list_come_first(library: Cast) -> None:
    found = search(library, "path:Ops")
    assert [hit.path for hit in found.hits] == ["Opsy.md", "Ops/Pumps.md", "Ops/Old.md"]
    assert found.hits[0].snippet.startswith("The pump of")
    arm = found.arms[0]
    assert (arm.name, arm.ran, arm.found, arm.path) == ("filter", True, 3, "newest first")
    assert found.searched_vaults == ("team",)


def test_a_named_note_must_pass_the_filters_too(library: Cast) -> None:
    assert search(library, "Opsy").hits[0].arms[0] == "title"
    assert paths(search(library, "Pumps tag:draft")) == {"Ops/Old.md"}
    assert paths(search(library, "Opsy path:Ops/", mode=Mode.KEYWORD)) == set()


def test_text_as_typed_keeps_to_the_filters(library: Cast) -> None:
    assert paths(search(library, "umps path:Home/", mode=Mode.KEYWORD)) == set()
    assert paths(search(library, "ump path:Home/", mode=Mode.KEYWORD)) == {"Home/My notes/Pump.md"}


def test_vectors_in_memory_keep_to_the_filters(
    library: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_halfvec(scope: Scope, serving: EmbeddingModel | None) -> ScopeFacts:
        return replace(scope_facts(scope, serving), has_halfvec=False)

    monkeypatch.setattr("retrieval.search.scope_facts", without_halfvec)
    found = search(library, "pump tag:blue", mode=Mode.SEMANTIC)
    assert paths(found) == {"Ops/Pumps.md"}
    assert next(arm for arm in found.arms if arm.name == "meaning").path == "exact in memory"


def test_nobody_lists_the_notes_of_others(library: Cast) -> None:
    assert "Ops/Secret.md" not in paths(search(library, "path:Ops/"))
    assert "Ops/Secret.md" not in paths(search(library, "pump tag:project"))
    outsider = async_to_sync(search_notes)(
        "tag:project", scope=scope_for(library.outsider), mode=Mode.HYBRID, limit=20
    )
    assert paths(outsider) == {"Ops/Secret.md"}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("tag:projet", "No note fits tag:projet. Did you mean tag:project"),
        ("pump tag:alpha", "No note fits tag:alpha. Did you mean tag:project/Alpha"),
        ("path:Opps/", "No note fits path:Opps/. Did you mean path:Ops/"),
        ("path:notes", 'Did you mean path:"Home/My notes/"'),
        ("after:soon", "“after:soon” is no filter. It takes a day, as in after:2026-01-31"),
        ("tag:#", "It takes a tag, as in tag:project/alpha. To search for it as text, put it"),
    ],
)
def test_an_unknown_value_is_told_with_what_was_meant(library: Cast, query: str, said: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read_asked(library.owner, Given(query=query))
    assert refused.value.name == "q"
    assert said in str(refused.value)


def test_a_tag_of_others_is_as_unknown_as_a_missing_one(library: Cast) -> None:
    said = []
    for tag in ("project/secret", "project/nowhere"):
        with pytest.raises(Unreadable) as refused:
            read_asked(library.owner, Given(query=f"tag:{tag}"))
        said.append(str(refused.value).replace(tag, "…"))
        assert "secret" not in said[-1]
    asked = read_asked(library.outsider, Given(query="tag:project/secret"))
    assert [each.value for each in asked.filters] == ["project/secret"]


def test_a_vault_without_tags_has_none_to_suggest(cast: Cast) -> None:
    write(cast.vault, "Plain.md")
    with pytest.raises(Unreadable, match=r"No note fits tag:x\. No note here has one\."):
        read_asked(cast.owner, Given(query="tag:x"))
    scope = scope_for(cast.owner)
    assert suggestions_for(read_asked(cast.owner, Given(query="path:Pl")).filters[0], scope) == ()


def page(user: Any, **params: Any) -> Any:
    client = Client()
    client.force_login(user)
    return client.get(reverse("search"), params)


def test_the_page_shows_a_chip_that_takes_the_filter_away(library: Cast) -> None:
    content = page(library.owner, q="pump tag:blue path:Ops/", mode="keyword").content.decode()
    assert "Remove the filter tag:blue" in content
    rest = "/search?q=pump+path%3AOps%2F&mode=keyword"
    assert f'href="{escape(rest)}"' in content
    assert "Opsy" not in content


def test_the_page_says_what_was_meant(library: Cast) -> None:
    answer = page(library.owner, q="tag:projet")
    assert answer.status_code == 400
    content = answer.content.decode()
    assert "Did you mean tag:project" in content
    assert 'href="/search?q=tag%3Aproject' in content
    beside = page(library.owner, q="pump", tag="projet", mode="keyword").content.decode()
    assert escape("/search?q=pump+tag%3Aproject&mode=keyword") in beside


def test_the_link_of_a_tag_lists_its_notes(library: Cast) -> None:
    client = Client()
    client.force_login(library.owner)
    content = client.get(PageAddresses().tag("team", "project/Alpha")).content.decode()
    assert "Ops/Pumps.md" in content
    assert "Ops/Old.md" not in content


def test_scripts_get_the_same(library: Cast, capsys: pytest.CaptureFixture[str]) -> None:
    client = Client()
    client.force_login(library.owner)
    found = client.get("/api/search", {"q": "pump tag:blue"}).json()
    assert [hit["path"] for hit in found["results"]] == ["Ops/Pumps.md"]
    refused = client.get("/api/search", {"q": "tag:projet"})
    assert refused.status_code == 400
    assert "Did you mean" in refused.json()["fields"]["q"][0]
    call_command("search", "tag:blue", user=library.owner.email)
    assert "team/Ops/Pumps.md" in capsys.readouterr().out
    with pytest.raises(CommandError, match="Did you mean"):
        call_command("search", "tag:projet", user=library.owner.email)


def test_a_chunk_of_each_listed_note_is_shown(library: Cast) -> None:
    hits = search(library, "path:Ops").hits
    assert {hit.path for hit in hits} >= {"Ops/Pumps.md", "Ops/Old.md"}
    for hit in hits:
        first = Chunk.objects.filter(note_id=hit.note_id).earliest("ordinal")
        assert hit.span == (first.start, first.end)


@pytest.mark.parametrize(
    ("stored", "wanted"),
    [
        ("Draft", "status:draft"),
        (["old", "Draft"], "status:DRAFT"),
        ("[[Draft]]", "status:draft"),
        (3, "status:3"),
        (True, "status:true"),
        ("a=b", "status:a=b"),
        (["x", None], "status:"),
        ({"deep": 1}, "Status:"),
    ],
)
def test_a_property_is_found_whatever_its_type(cast: Cast, stored: object, wanted: str) -> None:
    write_note(cast.vault, "Has.md", "The pump.", properties={"Status": stored})
    write_note(cast.vault, "Other.md", "The pump.", properties={"status": "final", "x": "draft"})
    write_note(cast.vault, "None.md", "The pump.")
    expected = {"Has.md", "Other.md"} if wanted.endswith(":") else {"Has.md"}
    assert paths(search(cast, f"pump [{wanted}]", mode=Mode.KEYWORD)) == expected


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("[date:2026-01-30]", "Did you mean [date:2026-01-31]"),
        ("[dat:x]", "Did you mean [date:]"),
        ("kind:code", "Did you mean kind:note?"),
        ("kind:song", "It takes kind:note, kind:code, kind:canvas or kind:attachment."),
        ("vault:tem", "Did you mean vault:team?"),
        ("vault:foreign", "Did you mean vault:team?"),
        ("folder:Opps", "Did you mean folder:Ops/"),
    ],
)
def test_each_filter_says_what_was_meant(library: Cast, query: str, said: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read_asked(library.owner, Given(query=query))
    assert said in str(refused.value)
    assert "secret" not in str(refused.value).lower()


def test_filters_beside_the_query_are_parameters(library: Cast) -> None:
    client = Client()
    client.force_login(library.owner)

    def found(**params: Any) -> set[str]:
        rows = client.get("/api/search", params).json()["results"]
        return {row["path"] for row in rows}

    assert found(q="pump", tag=["project", "blue"]) == {"Ops/Pumps.md"}
    assert found(folder="Home/My notes") == {"Home/My notes/Pump.md"}
    assert found(q="pump", prop="date=2026-01-31") == {"Ops/Pumps.md"}
    assert found(q="pump", after="2026-02", before="2026-03", kind="note") == {
        "Home/My notes/Pump.md"
    }
    assert found(q="pump", folder="Ops", after="2027") == set()


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"after": "soon"}, "after"),
        ({"kind": "song"}, "kind"),
        ({"prop": "="}, "prop"),
        ({"tag": "projet"}, "q"),
        ({"q": "x" * 20_000, "tag": "blue"}, "q"),
    ],
)
def test_a_parameter_that_means_nothing_is_named(
    library: Cast, params: dict[str, str], name: str
) -> None:
    client = Client()
    client.force_login(library.owner)
    answer = client.get("/api/search", {"q": "pump", **params})
    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == [name]


def test_filters_of_the_page_have_controls_and_chips(library: Cast) -> None:
    content = page(library.owner, q="pump", after="2026-01-31", kind="note", tag="blue")
    text = content.content.decode()
    assert 'name="after" type="date" value="2026-01-31"' in text
    assert '<option value="note" selected>' in text
    assert '<input type="hidden" name="tag" value="blue">' in text
    assert "Remove the filter tag:blue" in text
    assert escape("/search?q=pump&mode=hybrid&tag=blue&kind=note") in text
    none = page(library.owner, folder="Ops", after="2027-01-01").content.decode()
    assert "No note fits all of these filters." in none


def test_many_vaults_are_chosen_from_a_menu(library: Cast) -> None:
    for number in range(7):
        make_vault(f"vault-{number}", owner=library.owner)
    text = page(library.owner, q="pump", vault=["team", "vault-1"]).content.decode()
    assert "2 vaults" in text
    assert text.count('type="checkbox" name="vault"') == 8


_VALUES = {
    "tag": ["project", "#Project/alpha", "blue", "proj", "project/"],
    "folder": ["Ops", "ops/", "Home/My notes", "Op"],
    "path": ["Ops", "Ops/Pumps.md", "Opsy", "ome"],
    "kind": ["note", "code", "Note"],
    "prop": ["date=2026-01-31", "date=", "date", "=x"],
}
_FILTERS = st.sampled_from(sorted(_VALUES)).flatmap(
    lambda name: st.tuples(st.just(name), st.sampled_from(_VALUES[name]) | st.text(max_size=12))
)


def fits(note: Note, name: str, value: str) -> bool:
    """What the filter says, in Python."""
    wanted = clean(value).strip().lower()
    path, tags = note.path.lower(), [tag.lower() for tag in note.tags]
    if name == "tag":
        wanted = wanted.strip("#/")
        return any(tag == wanted or tag.startswith(f"{wanted}/") for tag in tags)
    if name == "folder":
        return path.startswith(wanted.strip("/") + "/")
    if name == "path":
        return path.startswith(wanted.lstrip("/"))
    if name == "kind":
        return note.kind == wanted
    key, _, expected = wanted.partition("=")
    return str(note.properties.get(key, "")).startswith(expected) and key in note.properties


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(_FILTERS)
def test_any_value_of_a_filter_is_refused_with_what_would_fit_or_chooses_what_fits(
    library: Cast, chosen: tuple[str, str]
) -> None:
    name, value = chosen
    try:
        asked = read_asked(library.owner, Given(query="pump", chosen={name: [value]}))
    except Unreadable as refused:
        known = Note.objects.filter(vault=library.vault)
        assert not any(fits(note, name, value) for note in known), str(refused)
        assert len(str(refused).split(". ")) > 1, "what was wrong, and what would fit"
        return
    found = async_to_sync(search_notes)(asked.text, scope=asked.scope, mode=Mode.HYBRID, limit=20)
    if not asked.filters:
        assert not clean(value), "a filter without a value is none"
        return
    notes = Note.objects.filter(pk__in=[hit.note_id for hit in found.hits])
    assert notes
    for note in notes:
        assert note.vault == library.vault
        assert fits(note, name, value), (note.path, chosen)
