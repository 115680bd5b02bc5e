"""The statement itself: its plan, its rights, its behaviour in a large index."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from retrieval.core import meaning_sql
from retrieval.core.query import parse_query
from retrieval.core.types import Knobs, Mode
from retrieval.facts import scope_facts
from retrieval.meaning import VectorArm
from retrieval.statements import run_search, search_statement
from tests.cast import Cast, make_vault
from tests.retrieval.crowd import DIMENSIONS, build_index, fill, unit
from tests.retrieval.library import make_embedding_model, write_note
from vault.access import scope_for
from vault.core.types import Scope
from vault.models import Chunk

pytestmark = pytest.mark.django_db

RANDOM = np.random.default_rng(7)


def test_text_of_users_is_bound_and_never_part_of_the_statement(cast: Cast) -> None:
    evil = """x'); DROP TABLE vault_note; -- "quoted'phrase" -ex'cluded"""
    scope = scope_for(cast.owner)
    statement, values = search_statement(
        parse_query(evil, operators=True),
        scope=scope,
        facts=scope_facts(scope),
        knobs=Knobs(),
        vectors=[],
    )
    assert "DROP" not in statement
    assert "quoted" not in statement.replace("quoted_", "")
    assert any("DROP" in str(value) for value in values.values())


def test_a_sliver_finds_what_any_scope_finds(cast: Cast) -> None:
    """By either way the same rows with the same scores."""
    for number, text in enumerate(("pump and valve", "the pump", "valve of the cellar", "stairs")):
        write_note(cast.vault, f"{number}.md", text)
    scope = scope_for(cast.owner)
    facts = scope_facts(scope)
    by_way = [
        run_search(
            parse_query("the pump or its valve"),
            scope=scope,
            facts=replace(facts, is_sliver=is_sliver),
            knobs=Knobs(),
            vectors=[],
        ).candidates
        for is_sliver in (False, True)
    ]
    assert len(by_way[0]) == 3
    assert by_way[0] == by_way[1]


def test_the_nearest_word_of_a_typo_is_looked_up_in_the_trigram_index() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO vault_lexeme (lexeme) "
            "SELECT md5(n::text) FROM generate_series(1, 5000) AS n"
        )
        # Rows that were just written wait in a list that is scanned whole.
        cursor.execute("SELECT gin_clean_pending_list('lexeme_trigrams')")
        cursor.execute("ANALYZE vault_lexeme")
        cursor.execute("SELECT set_config('pg_trgm.similarity_threshold', '0.5', true)")
        cursor.execute("EXPLAIN SELECT lexeme FROM vault_lexeme WHERE lexeme %% %s", ["paryoll"])
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "lexeme_trigrams" in plan


def test_a_question_that_narrows_has_each_vector_compared_where_that_is_bearable(
    cast: Cast,
) -> None:
    """Two of a hundred passages hold the phrase, and are the furthest from the question."""
    model = make_embedding_model(dimensions=DIMENSIONS)
    query = unit(RANDOM.normal(size=DIMENSIONS))
    noise = RANDOM.normal(size=(100, DIMENSIONS)) * 0.1
    fill(
        cast.vault,
        model,
        [unit(row + (query if place > 1 else -query)) for place, row in enumerate(noise)],
    )
    build_index(model)
    held = list(Chunk.objects.order_by("pk").values_list("pk", flat=True)[:2])
    Chunk.objects.filter(pk__in=held).update(content="the old mill")
    scope = scope_for(cast.owner)
    facts = replace(scope_facts(scope), is_small=False, width=0.01)
    found = run_search(
        parse_query('"old mill"', operators=True),
        scope=scope,
        facts=facts,
        knobs=Knobs(mode=Mode.SEMANTIC, depth=2),
        vectors=[VectorArm(model, scope.vault_ids, query=query)],
    )
    assert facts.is_bearable
    assert sorted(candidate.chunk_id for candidate in found.candidates) == held
    assert facts.narrowed(narrows=False) == facts
    assert facts.narrowed(narrows=True).is_small


@pytest.mark.parametrize("narrow", [meaning_sql.NARROW_NOTES, 0])
def test_a_folder_of_one_in_a_hundred_gives_as_many_rows_as_asked(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, *, narrow: int
) -> None:
    """Compared one by one where the folder is small, by the index where it is not."""
    monkeypatch.setattr(meaning_sql, "NARROW_NOTES", narrow)
    model = make_embedding_model(dimensions=DIMENSIONS)
    query = unit(RANDOM.normal(size=DIMENSIONS))
    for number in range(100):
        near = -query if number == 0 else query
        noise = RANDOM.normal(size=(12, DIMENSIONS)) * 0.1
        fill(cast.vault, model, [unit(near + row) for row in noise], path=f"{number}/n.md")
    build_index(model)
    scope = scope_for(cast.owner)
    found = run_search(
        parse_query("pump path:0/", operators=True),
        scope=scope,
        facts=replace(scope_facts(scope), is_small=False, is_bearable=False),
        knobs=Knobs(mode=Mode.SEMANTIC, depth=10),
        vectors=[VectorArm(model, scope.vault_ids, query=query)],
    )
    own = Chunk.objects.filter(note__path="0/n.md").values_list("pk", flat=True)
    assert len(found.candidates) == 10
    assert {candidate.chunk_id for candidate in found.candidates} <= set(own)


def test_a_search_asks_the_database_thrice_however_many_vaults_and_words(cast: Cast) -> None:
    """The look at the scope, the settings of the transaction, the search."""
    for number in range(3):
        make_vault(f"more-{number}", owner=cast.owner)
    counts = []
    for scope in (Scope(cast.owner.pk, (cast.vault.pk,)), scope_for(cast.owner)):
        for text in ("pump", "which pump of the cellar drips when the valve is shut"):
            with CaptureQueriesContext(connection) as queries:
                facts = scope_facts(scope)
                run_search(parse_query(text), scope=scope, facts=facts, knobs=Knobs(), vectors=[])
            asked = [query["sql"] for query in queries if "SAVEPOINT" not in query["sql"]]
            counts.append(len(asked))
    assert counts == [3, 3, 3, 3]


def kept_statements() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements WHERE generic_plans > 0")
        return [statement for (statement,) in cursor.fetchall() if "lexical AS" in statement]


def search_for(text: str, scope: Scope, *, is_most: bool = True, is_sliver: bool = False) -> None:
    facts = replace(scope_facts(scope), is_most=is_most, is_sliver=is_sliver)
    query = parse_query(text, operators=True)
    run_search(query, scope=scope, facts=facts, knobs=Knobs(), vectors=[])


def test_the_plans_of_plain_searches_of_most_there_is_and_of_slivers_are_made_once_and_no_others(
    cast: Cast,
) -> None:
    with connection.cursor() as cursor:
        # psycopg forgets with the server.
        cursor.execute("DEALLOCATE ALL")
    scope = scope_for(cast.owner)
    search_for("where is the valve of the cellar", scope, is_most=False)
    assert kept_statements() == []
    search_for("where is the valve of the cellar", scope, is_most=False, is_sliver=True)
    assert len(kept_statements()) == 1, "that of a sliver is another statement"
    for text in ("where is the valve of the cellar", "how is the pump opened in the winter"):
        search_for(text, scope)
        assert len(kept_statements()) == 2
    for text in ("pump path:Ops/", 'where is "the pump" of it', "where is the pump of it -valve"):
        search_for(text, scope)
    assert len(kept_statements()) == 2
