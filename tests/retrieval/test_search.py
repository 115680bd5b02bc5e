"""Search of notes: what is found, in which order, by which arm, and for whom."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync

from retrieval.core.types import Mode, SearchResult
from retrieval.search import search_notes
from tests.cast import Cast
from tests.retrieval.library import embed, make_embedding_model, write_note
from vault.access import scope_for

pytestmark = pytest.mark.django_db


def search(cast: Cast, query: str, mode: Mode = Mode.HYBRID, limit: int = 10) -> SearchResult:
    return async_to_sync(search_notes)(query, scope=scope_for(cast.owner), mode=mode, limit=limit)


def paths(result: SearchResult) -> list[str]:
    return [hit.path for hit in result.hits]


def fill(cast: Cast) -> None:
    write_note(
        cast.vault, "Pumps.md", "The blue pump stands in the cellar.", "It is serviced in May."
    )
    write_note(cast.vault, "Payroll.md", "The payroll export is written every night.")
    write_note(cast.vault, "Garden.md", "Tomatoes need water and sun.")


def test_keyword_search_finds_a_word_by_its_stem(cast: Cast) -> None:
    fill(cast)
    result = search(cast, "exports of payrolls", Mode.KEYWORD)
    assert paths(result) == ["Payroll.md"]
    assert result.hits[0].arms == ("keyword 1",)


def test_a_question_finds_its_note_by_both_arms(cast: Cast) -> None:
    fill(cast)
    embed(cast.vault, make_embedding_model())
    result = search(cast, "Where is the blue pump?")
    assert paths(result)[0] == "Pumps.md"
    assert result.hits[0].arms == ("keyword 1", "meaning 1")
    assert result.hits[0].snippet == "The blue pump stands in the cellar."
    assert result.hits[0].marks == ((4, 8), (9, 13))
