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
from retrieval.facts import ScopeFacts, scope_facts
from retrieval.meaning import VectorArm
from retrieval.statements import run_search, search_statement
from tests.cast import Cast, make_vault
from tests.retrieval.crowd import DIMENSIONS, build_index, fill, unit
from tests.retrieval.library import make_embedding_model, write_note
from vault.access import scope_for
from vault.core.types import Scope
from vault.models import Chunk, Vault
from vault.vector_index import index_name

pytestmark = pytest.mark.django_db

FAR = 40
RANDOM = np.random.default_rng(7)


@pytest.fixture
def crowd(cast: Cast) -> tuple[Scope, ScopeFacts, VectorArm]:
    """A vault of 40 vectors far from the query beside one of 3,000, under one index."""
    model = make_embedding_model(dimensions=DIMENSIONS)
    query = unit(RANDOM.normal(size=DIMENSIONS))
    big = make_vault("big", owner=cast.outsider)
    fill(big, model, [unit(v) for v in RANDOM.normal(size=(3000, DIMENSIONS))])
    noise = RANDOM.normal(size=(FAR, DIMENSIONS)) * 0.1
    fill(cast.vault, model, [unit(noise[row] - query) for row in range(FAR)])
    build_index(model)
    scope = scope_for(cast.owner)
    arm = VectorArm(model, scope.vault_ids, query=query)
    return scope, scope_facts(scope), arm


def plan_of(scope: Scope, facts: ScopeFacts, arm: VectorArm, *, mode: Mode = Mode.SEMANTIC) -> str:
    knobs = Knobs(mode=mode)
    statement, values = search_statement(
        parse_query("pump"), scope=scope, facts=facts, knobs=knobs, vectors=[arm]
    )
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
        cursor.execute("EXPLAIN " + statement, values)
        return "\n".join(row[0] for row in cursor.fetchall())


def test_a_large_scope_uses_the_index_of_its_model(
    crowd: tuple[Scope, ScopeFacts, VectorArm],
) -> None:
    scope, facts, arm = crowd
    assert index_name(arm.model) in plan_of(scope, replace(facts, is_small=False), arm)


def test_a_small_scope_is_searched_exactly(crowd: tuple[Scope, ScopeFacts, VectorArm]) -> None:
    scope, facts, arm = crowd
    assert facts.is_small
    assert index_name(arm.model) not in plan_of(scope, facts, arm)


@pytest.mark.parametrize("is_small", [True, False])
def test_a_small_vault_in_a_big_index_gives_as_many_rows_as_asked(
    crowd: tuple[Scope, ScopeFacts, VectorArm], *, is_small: bool
) -> None:
    scope, facts, arm = crowd
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
    found = run_search(
        parse_query("pump"),
        scope=scope,
        facts=replace(facts, is_small=is_small),
        knobs=Knobs(mode=Mode.SEMANTIC, depth=10),
        vectors=[arm],
    )
    own = set(Chunk.objects.filter(vault_id__in=scope.vault_ids).values_list("pk", flat=True))
    cosines = [candidate.cosine or 0.0 for candidate in found.candidates]
    assert len(found.candidates) == 10
    assert {candidate.chunk_id for candidate in found.candidates} <= own
    assert cosines == sorted(cosines, reverse=True)


@pytest.mark.parametrize(
    ("ef_search", "width", "looked_at"), [(400, 1, "400"), (40, 2.5, "100"), (800, 2, "1000")]
)
def test_the_index_looks_at_as_many_as_knob_and_scope_say(
    crowd: tuple[Scope, ScopeFacts, VectorArm], ef_search: int, width: float, looked_at: str
) -> None:
    scope, facts, arm = crowd
    run_search(
        parse_query("pump"),
        scope=scope,
        facts=replace(facts, is_small=False, width=width),
        knobs=Knobs(mode=Mode.SEMANTIC, depth=10, ef_search=ef_search),
        vectors=[arm],
    )
    with connection.cursor() as cursor:
        cursor.execute("SHOW hnsw.ef_search")
        assert cursor.fetchone() == (looked_at,)


def test_a_large_scope_without_its_index_finds_what_an_exact_search_finds(
    crowd: tuple[Scope, ScopeFacts, VectorArm],
) -> None:
    scope, facts, arm = crowd
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX {index_name(arm.model)}")
    by_path = [
        run_search(
            parse_query("pump"),
            scope=scope,
            facts=replace(facts, is_small=is_small),
            knobs=Knobs(mode=Mode.SEMANTIC, depth=10),
            vectors=[arm],
        ).candidates
        for is_small in (True, False)
    ]
    assert by_path[0] == by_path[1]
    assert len(by_path[0]) == 10


def test_a_filter_that_matches_fewer_rows_than_asked_returns_them_all(
    crowd: tuple[Scope, ScopeFacts, VectorArm],
) -> None:
    scope, facts, arm = crowd
    found = run_search(
        parse_query("pump"),
        scope=scope,
        facts=facts,
        knobs=Knobs(mode=Mode.SEMANTIC, depth=500),
        vectors=[arm],
    )
    assert len(found.candidates) == FAR


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


def test_a_scope_that_is_a_small_part_of_all_there_is_has_a_plan_of_its_own(
    crowd: tuple[Scope, ScopeFacts, VectorArm],
) -> None:
    scope, _facts, _arm = crowd
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE vault_chunk")
    facts = scope_facts(scope)
    assert (facts.is_most, facts.is_sliver) == (False, True)
    both = scope_facts(Scope(scope.user_id, tuple(Vault.objects.values_list("pk", flat=True))))
    assert (both.is_most, both.is_sliver) == (True, False)


def test_of_a_sliver_its_own_rows_are_read_and_no_index_over_all_vaults(
    crowd: tuple[Scope, ScopeFacts, VectorArm],
) -> None:
    scope, facts, arm = crowd
    over_all = ("chunk_tsv", "embedding_model_id_", index_name(arm.model))
    plan = plan_of(scope, replace(facts, is_sliver=True), arm, mode=Mode.HYBRID)
    pool, near = (plan.split(f"CTE {name}\n")[1] for name in ("pool", "near_0"))
    for part in (pool.split("CTE looked")[0], near.split("CTE nearest")[0]):
        assert "Index Cond: (vault_id = ANY" in part
        # What hides the other indexes, however many vaults the plan is made for.
        assert "IS TRUE" in part
        assert [name for name in over_all if name in part] == []


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


def test_facts_count_what_is_there(crowd: tuple[Scope, ScopeFacts, VectorArm]) -> None:
    _scope, facts, arm = crowd
    assert (facts.chunks, facts.vaults[0].vectors) == (FAR, FAR)
    assert facts.models == {arm.model: (facts.vaults[0].vault_id,)}
    assert facts.text_configs == ("simple",)
    assert facts.has_halfvec
    assert facts.has_trigrams
    assert facts.gaps() == ()


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
