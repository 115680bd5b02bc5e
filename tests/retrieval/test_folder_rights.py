"""Folder rules in every arm: what is in a closed folder is found by no search."""

from __future__ import annotations

from dataclasses import replace

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from providers.models import EmbeddingModel
from retrieval.core.filters import Filter
from retrieval.core.query import parse_query
from retrieval.core.types import Knobs, Mode, SearchResult
from retrieval.facts import ScopeFacts, scope_facts
from retrieval.filters import suggestions_for, unknown_filter
from retrieval.options import site_knobs
from retrieval.pipeline import retrieve
from retrieval.search import search_notes
from retrieval.statements import run_search
from tests.cast import Cast, make_vault
from tests.retrieval.library import embed, make_embedding_model, write_note
from vault.access import scope_for
from vault.core.types import NoteKind, Scope
from vault.models import Note, VaultMember

pytestmark = pytest.mark.django_db

CANARY = "quorvexine"
SENTENCE = f"The {CANARY} pump stands in the cellar."


@pytest.fixture
def model() -> EmbeddingModel:
    return make_embedding_model()


@pytest.fixture
def library(cast: Cast, model: EmbeddingModel) -> Cast:
    """One note that the mate may read, and more that are hidden in HR/."""
    write_note(cast.vault, "Open/Pump.md", "The blue pump stands in the garden.")
    for number in range(30):
        write_note(
            cast.vault,
            f"HR/{CANARY} {number}.md",
            f"{SENTENCE} It is {number} m high.",
            aliases=("pump",),
        )
    embed(cast.vault, model)
    VaultMember.objects.filter(vault=cast.vault, user=cast.mate).update(hidden_folders=["HR"])
    return cast


def search(user: User, query: str, mode: Mode) -> SearchResult:
    return async_to_sync(search_notes)(query, scope=scope_for(user), mode=mode, limit=20)


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize(
    "query", [SENTENCE, CANARY, f'"{CANARY} pump"', "pump", "quorvex", "the", "path:HR/", "-garden"]
)
def test_no_arm_finds_what_is_hidden(library: Cast, query: str, mode: Mode) -> None:
    found = search(library.mate, query, mode)
    assert {hit.path for hit in found.hits} <= {"Open/Pump.md"}
    assert CANARY not in repr(found.hits)


@pytest.mark.parametrize("mode", list(Mode))
def test_hidden_notes_take_no_place_from_open_ones(library: Cast, mode: Mode) -> None:
    assert [hit.path for hit in search(library.mate, "pump", mode).hits] == ["Open/Pump.md"]
    assert len(search(library.owner, "pump", mode).hits) == 20


def test_vectors_in_memory_keep_to_the_folders(
    library: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_halfvec(scope: Scope, serving: EmbeddingModel | None) -> ScopeFacts:
        return replace(scope_facts(scope, serving), has_halfvec=False)

    monkeypatch.setattr("retrieval.search.scope_facts", without_halfvec)
    found = search(library.mate, SENTENCE, Mode.SEMANTIC)
    assert {hit.path for hit in found.hits} <= {"Open/Pump.md"}
    assert next(arm for arm in found.arms if arm.name == "meaning").path == "exact in memory"


def test_only_these_folders_and_several_memberships(library: Cast) -> None:
    VaultMember.objects.filter(user=library.mate).update(only_folders=["HR"], hidden_folders=[])
    found = search(library.mate, "pump", Mode.HYBRID)
    assert found.hits
    assert all(hit.path.startswith("HR/") for hit in found.hits)


def test_passages_for_an_answer_come_from_open_folders(library: Cast) -> None:
    made = async_to_sync(retrieve)(
        SENTENCE, history=[], scope=scope_for(library.mate), knobs=site_knobs()
    )
    assert {passage.path for passage in made.passages} <= {"Open/Pump.md"}
    assert CANARY not in repr(made.passages)


def test_a_filter_that_names_a_hidden_folder_is_unknown(library: Cast) -> None:
    hidden = search(library.mate, "pump path:HR/", Mode.HYBRID)
    missing = search(library.mate, "pump path:XX/", Mode.HYBRID)
    assert hidden.hits == missing.hits == ()
    assert "HR" not in repr(missing.notices) + repr(missing.arms)


@pytest.mark.parametrize(
    ("filter_", "name"),
    [
        (Filter("tag", "payrol", "tag:payrol"), "payroll"),
        (Filter("folder", "hr/x", "folder:HR/x"), "HR/"),
        (Filter("kind", "cod", "kind:cod"), "code"),
        (Filter("prop", "salary=hig", "prop:salary=hig"), "salary=high"),
        (Filter("prop", "salar=", "prop:salar="), "salary="),
    ],
    ids=lambda value: getattr(value, "raw", value),
)
def test_no_name_out_of_a_closed_folder_is_suggested(
    library: Cast, filter_: Filter, name: str
) -> None:
    closed = Note.objects.filter(path__startswith="HR/")
    closed.update(tags=["payroll"], properties={"salary": "high"}, kind=NoteKind.CODE)
    assert unknown_filter([filter_], scope_for(library.owner)) == filter_
    assert name in suggestions_for(filter_, scope_for(library.owner))
    assert name not in suggestions_for(filter_, scope_for(library.mate))


def test_hidden_notes_move_no_order_beside_a_vault_that_is_open(library: Cast) -> None:
    """Words of the open vault are counted beforehand, of the other by each search."""
    other = make_vault("other", owner=library.mate)
    for number in range(12):
        write_note(other, f"{number}.md", f"A garden with {number} pumps and a pond.")

    def found() -> list[int]:
        scope = scope_for(library.mate)
        outcome = run_search(
            parse_query("blue pump garden"),
            scope=scope,
            facts=scope_facts(scope),
            knobs=Knobs(mode=Mode.KEYWORD),
            vectors=(),
        )
        return [each.chunk_id for each in outcome.candidates]

    before = found()
    Note.objects.filter(vault=library.vault, path__startswith="HR/").delete()
    assert len(before) > 5
    assert found() == before
