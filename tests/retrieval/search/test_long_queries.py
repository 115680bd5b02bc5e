"""Long text and signs alone: nothing is cut in silence, no filter is overlooked."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from django.urls import reverse

from providers.models import EmbeddingModel
from retrieval.core.query import LONGEST_TYPED, MOST_OPERATORS
from retrieval.core.types import Knobs, Mode
from retrieval.forms import Given, Unreadable, read_asked
from retrieval.pipeline import retrieve
from tests.cast import Cast
from tests.retrieval.library import embed, write_note
from tests.retrieval.search.asking import arm, paths, search
from vault.access import scope_for

pytestmark = pytest.mark.django_db

PASTED = "The pump stands in the cellar beside a wall. " * 40


@pytest.fixture
def notes(library: Cast, model: EmbeddingModel) -> Cast:
    write_note(library.vault, "Green/Pump.md", "The pump of the garden. Party 🎉 on Friday.")
    embed(library.vault, model)
    return library


def test_filters_hold_wherever_they_stand_in_a_long_text(notes: Cast) -> None:
    client = Client()
    client.force_login(notes.owner)
    query = {"q": f"{PASTED} -tomatoes path:Green/"}
    answer = client.get(reverse("api-search"), query).json()
    assert [hit["path"] for hit in answer["results"]] == ["Green/Pump.md"]
    assert "Only the first" in " ".join(answer["notices"])
    assert "Only the first" in client.get(reverse("search"), query).content.decode()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (Given(query="pump " * LONGEST_TYPED), "at most 20000 are read"),
        (Given(query='"a b" -bcd ' + "tag:x " * MOST_OPERATORS), "52 filters"),
        (Given(query=f'"{PASTED}"'), "is too long"),
        (Given(query="pump", chosen={"path": ["x" * 2_000]}), "is too long"),
    ],
)
def test_what_is_over_a_limit_is_refused_with_its_measure(
    notes: Cast, given: Given, said: str
) -> None:
    with pytest.raises(Unreadable, match=said):
        read_asked(notes.owner, given)


def test_the_question_after_a_long_text_is_answered_from_the_notes(notes: Cast) -> None:
    pasted = "Quarterly ledgers were closed by clerks, one after the other. " * 20
    found = async_to_sync(retrieve)(
        pasted + "What do tomatoes need?",
        history=(),
        scope=scope_for(notes.owner),
        knobs=Knobs(),
    )
    assert found.queries[0] == "What do tomatoes need?"
    assert found.passages[0].path == "Green/Garden.md"
    assert any("1,262" in said or "1262 characters" in said for said in found.notices)


@pytest.mark.parametrize("query", ["-", "*", '"', "%", '""', "…", "🎈"])
@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.SEMANTIC])
def test_signs_alone_find_nothing_and_say_why(notes: Cast, query: str, mode: Mode) -> None:
    result = search(notes.owner, query, mode)
    assert result.hits == ()
    assert not arm(result, "meaning").ran
    assert result.notices.count("The query has no words.") == 1


def test_an_emoji_finds_the_text_that_holds_it(notes: Cast) -> None:
    assert paths(search(notes.owner, "🎉")) == ["Green/Pump.md"]


def test_signs_beside_filters_list_the_notes(notes: Cast) -> None:
    assert set(paths(search(notes.owner, "folder:Green -"))) == {"Green/Pump.md", "Green/Garden.md"}
