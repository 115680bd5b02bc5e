"""Whom a search serves: rights, chosen vaults, closed folders, and nothing of others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from providers.models import EmbeddingModel
from retrieval.core.types import Mode, SearchResult
from retrieval.search import search_notes
from tests.cast import Cast, make_vault
from tests.retrieval.library import embed, make_embedding_model, write_markdown, write_note
from tests.retrieval.search.asking import CANARY, arm, paths, search
from vault.access import scope_for
from vault.core.folder_rules import FolderRule
from vault.lexemes import refresh_lexemes
from vault.models import Note

pytestmark = pytest.mark.django_db


def test_spelling_is_never_mended_to_a_word_of_somebody_elses_vault(library: Cast) -> None:
    write_markdown(library.foreign_vault, "x.md", f"The word {CANARY} again.")
    result = search(library.owner, CANARY[:-1] + "z", Mode.HYBRID)
    assert CANARY not in str(result)


def test_an_outsider_finds_nothing_of_the_team(library: Cast, model: EmbeddingModel) -> None:
    embed(library.vault, model)
    embed(library.foreign_vault, model)
    for mode in Mode:
        for query in ("blue pump", "Pumps", "ump", '"blue pump"'):
            own = search(library.owner, query, mode)
            assert own.hits or mode == Mode.SEMANTIC, (query, mode)
            assert CANARY not in str(own)
            found = search(library.outsider, query, mode)
            assert all(hit.vault_slug == "foreign" for hit in found.hits)
            assert "team" not in str(found)


def test_a_search_stays_in_the_chosen_vaults(library: Cast) -> None:
    second = make_vault("second", owner=library.owner)
    write_note(second, "Pump two.md", "Another blue pump.")
    assert len(search(library.owner, "blue pump").hits) == 2
    assert paths(search(library.owner, "blue pump", slugs=["second"])) == ["Pump two.md"]
    narrowed = search(library.owner, "blue pump", slugs=["foreign"])
    assert narrowed.hits == ()
    assert "filters" in narrowed.notices[0]


def test_nothing_asked_or_nothing_to_read_costs_no_query(library: Cast) -> None:
    scope, nobody = scope_for(library.owner), scope_for(AnonymousUser())
    with CaptureQueriesContext(connection) as captured:
        for query, where, limit in (
            ("", scope, 5),
            (" \n\t ", scope, 5),
            ("\x00", scope, 5),
            ("pump", scope, 0),
            ("pump", scope, -5),
            ("pump", nobody, 5),
        ):
            result = async_to_sync(search_notes)(query, scope=where, mode=Mode.HYBRID, limit=limit)
            assert result.hits == ()
            assert result.notices
    assert len(captured) == 0


QUERIES = st.text(st.characters(codec=None), max_size=60) | st.text(
    alphabet="\"'-&|!():*<>\\%_#@/.,\x00\ud800 abя中ก́", max_size=60
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(query=QUERIES, mode=st.sampled_from(Mode))
def test_any_string_is_a_safe_query(library: Cast, query: str, mode: Mode) -> None:
    if library.vault.embedding_model is None:
        embed(library.vault, make_embedding_model())
    result = search(library.owner, query, mode)
    assert all(hit.vault_slug == "team" for hit in result.hits)
    assert CANARY not in str(result.hits)


def test_the_words_of_other_vaults_change_neither_order_nor_score_nor_spelling(
    cast: Cast,
) -> None:
    for number in range(6):
        write_note(cast.vault, f"{number}.md", f"The quenching of machine {number}.")
    write_note(cast.vault, "common.md", "The common machine.")
    refresh_lexemes(force=True)
    before = search(cast.owner, "common quenching zelmirra", Mode.KEYWORD)
    other = make_vault("other", owner=cast.outsider)
    for number in range(40):
        write_note(other, f"{number}.md", "A common zelmira of the common kind.")
    refresh_lexemes(force=True)
    after = search(cast.owner, "common quenching zelmirra", Mode.KEYWORD)
    assert [(hit.path, hit.score) for hit in after.hits] == [
        (hit.path, hit.score) for hit in before.hits
    ]
    assert arm(after, "keyword").reason == arm(before, "keyword").reason == ""
    assert "zelmirra → zelmira" in arm(search(cast.outsider, "zelmirra"), "keyword").reason


def test_a_folder_that_is_closed_lends_no_word_to_a_typo_and_no_weight_to_a_word(
    cast: Cast,
) -> None:
    write_markdown(cast.vault, "open/a.md", "The quenching of the common machine.")
    write_markdown(cast.vault, "open/b.md", "The common machine.")
    for number in range(8):
        write_markdown(cast.vault, f"closed/{number}.md", "A common zelmira of the closed kind.")
    refresh_lexemes(force=True)
    whole = scope_for(cast.owner)
    folders = replace(whole, rules=(FolderRule(cast.vault.pk, only=("open",)),))

    def found(query: str) -> SearchResult:
        return async_to_sync(search_notes)(query, scope=folders, mode=Mode.KEYWORD, limit=20)

    assert "→" not in arm(found("zelmirra"), "keyword").reason
    before = [(hit.path, hit.score) for hit in found("common quenching").hits]
    Note.objects.filter(path__startswith="closed/").delete()
    refresh_lexemes(force=True)
    assert [(hit.path, hit.score) for hit in found("common quenching").hits] == before
