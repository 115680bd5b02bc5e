"""The statement beside a large index: its plan, and that it finds as much as an exact search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from django.db import connection

from retrieval.core.query import parse_query
from retrieval.core.types import Knobs, Mode
from retrieval.facts import ScopeFacts, scope_facts
from retrieval.meaning import VectorArm
from retrieval.statements import run_search, search_statement
from tests.cast import make_cast, make_vault
from tests.conftest import Written
from tests.retrieval.crowd import DIMENSIONS, build_index, fill, unit
from tests.retrieval.library import make_embedding_model
from vault.access import scope_for
from vault.core.types import Scope
from vault.models import Chunk, Vault
from vault.vector_index import index_name

pytestmark = pytest.mark.django_db

FAR = 40
RANDOM = np.random.default_rng(7)

Crowd = tuple[Scope, ScopeFacts, VectorArm]


@pytest.fixture(scope="module")
def kept_crowd(kept_rows: Written) -> Crowd:
    """A vault of 40 vectors far from the query beside one of 3,000, under one index."""
    query = unit(RANDOM.normal(size=DIMENSIONS))
    with kept_rows():
        cast = make_cast()
        model = make_embedding_model(dimensions=DIMENSIONS)
        big = make_vault("big", owner=cast.outsider)
        fill(big, model, [unit(v) for v in RANDOM.normal(size=(3000, DIMENSIONS))])
        noise = RANDOM.normal(size=(FAR, DIMENSIONS)) * 0.1
        fill(cast.vault, model, [unit(noise[row] - query) for row in range(FAR)])
        build_index(model)
        scope = scope_for(cast.owner)
        arm = VectorArm(model, scope.vault_ids, query=query)
        return scope, scope_facts(scope), arm


@pytest.fixture
def crowd(db: None, kept_crowd: Crowd) -> Crowd:
    """The same for every test; what a test does to it is undone."""
    return kept_crowd


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
    crowd: Crowd,
) -> None:
    scope, facts, arm = crowd
    assert index_name(arm.model) in plan_of(scope, replace(facts, is_small=False), arm)


def test_a_small_scope_is_searched_exactly(crowd: Crowd) -> None:
    scope, facts, arm = crowd
    assert facts.is_small
    assert index_name(arm.model) not in plan_of(scope, facts, arm)


@pytest.mark.parametrize("is_small", [True, False])
def test_a_small_vault_in_a_big_index_gives_as_many_rows_as_asked(
    crowd: Crowd, *, is_small: bool
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
    crowd: Crowd, ef_search: int, width: float, looked_at: str
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
    crowd: Crowd,
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
    crowd: Crowd,
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


def test_a_scope_that_is_a_small_part_of_all_there_is_has_a_plan_of_its_own(
    crowd: Crowd,
) -> None:
    scope, _facts, _arm = crowd
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE vault_chunk")
    facts = scope_facts(scope)
    assert (facts.is_most, facts.is_sliver) == (False, True)
    both = scope_facts(Scope(scope.user_id, tuple(Vault.objects.values_list("pk", flat=True))))
    assert (both.is_most, both.is_sliver) == (True, False)


def test_of_a_sliver_its_own_rows_are_read_and_no_index_over_all_vaults(
    crowd: Crowd,
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


def test_facts_count_what_is_there(crowd: Crowd) -> None:
    _scope, facts, arm = crowd
    assert (facts.chunks, facts.vaults[0].vectors) == (FAR, FAR)
    assert facts.models == {arm.model: (facts.vaults[0].vault_id,)}
    assert facts.text_configs == ("simple",)
    assert facts.has_halfvec
    assert facts.has_trigrams
    assert facts.gaps() == ()
