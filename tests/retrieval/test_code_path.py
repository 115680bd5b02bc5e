"""Source code looked for by itself, where a question may be about it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from retrieval.core import path_sql
from retrieval.core.fusion import arm_labels
from retrieval.core.query import parse_query
from retrieval.core.types import Candidate, Fusion, Knobs, Mode
from retrieval.facts import ScopeFacts, scope_facts
from retrieval.meaning import VectorArm
from retrieval.paths import code_path
from retrieval.statements import run_search, search_statement
from tests.cast import Cast, make_vault
from tests.retrieval.crowd import DIMENSIONS, build_index, fill, unit
from tests.retrieval.library import embed, make_embedding_model, write_markdown
from tests.retrieval.search.asking import arm, paths, search
from vault.access import scope_for
from vault.core.types import Scope
from vault.models import Chunk

pytestmark = pytest.mark.django_db

RANDOM = np.random.default_rng(11)
TOP = 8
ABOUT_CODE, ABOUT_TEXT = "which function opens the pump", "who opens the pump"


@pytest.fixture
def project(cast: Cast) -> tuple[Scope, ScopeFacts, VectorArm]:
    """30 passages of code, one in a hundred, all of them further from the query than 120 others
    of the same vault; another vault's are nearer still."""
    model = make_embedding_model(dimensions=DIMENSIONS)
    query = unit(RANDOM.normal(size=DIMENSIONS))

    def near(share: float, count: int) -> list[np.ndarray]:
        noise = RANDOM.normal(size=(count, DIMENSIONS)) * 0.05
        far = unit(RANDOM.normal(size=DIMENSIONS))
        return [unit(share * query + (1 - share) * far + row) for row in noise]

    other = make_vault("other", owner=cast.outsider)
    fill(other, model, near(0.95, 1000), is_code=True)
    crowd = [unit(vector) for vector in RANDOM.normal(size=(2850, DIMENSIONS))]
    fill(cast.vault, model, [*near(0.9, 120), *crowd], path="text.md")
    fill(cast.vault, model, near(0.7, 30), path="code.py", is_code=True)
    build_index(model)
    scope = scope_for(cast.owner)
    return scope, scope_facts(scope), VectorArm(model, scope.vault_ids, query=query)


def found(
    project: tuple[Scope, ScopeFacts, VectorArm],
    text: str = ABOUT_CODE,
    *,
    is_small: bool = True,
    knobs: Knobs | None = None,
) -> list[Candidate]:
    scope, facts, vectors = project
    rows = run_search(
        parse_query(text, operators=True),
        scope=scope,
        facts=replace(facts, is_small=is_small),
        knobs=knobs or Knobs(mode=Mode.SEMANTIC, passages=TOP),
        vectors=[vectors],
    )
    return list(rows.candidates)


@pytest.mark.parametrize(
    ("is_small", "few"), [(True, 0), (False, path_sql.FEW_CODE), (False, 0)],
    ids=["exactly", "one by one beside the index", "by the index"],
)  # fmt: skip
def test_one_passage_of_code_in_a_hundred_gives_as_many_hits_as_wanted(
    project: tuple[Scope, ScopeFacts, VectorArm],
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_small: bool,
    few: int,
) -> None:
    monkeypatch.setattr(path_sql, "FEW_CODE", few)
    scope = project[0]
    candidates = found(project, is_small=is_small)
    code = set(
        Chunk.objects.filter(vault_id__in=scope.vault_ids, is_code=True).values_list(
            "pk", flat=True
        )
    )
    of_code = [each for each in candidates if each.chunk_id in code]
    assert len(of_code) >= TOP
    assert [each.code_rank for each in of_code] == list(range(1, len(of_code) + 1))
    assert candidates[0] == of_code[0]
    assert not [each for each in candidates if each.code_rank and each.chunk_id not in code]
    assert len({each.chunk_id for each in candidates}) == len(candidates)


def test_without_the_path_none_of_them_is_among_the_nearest(
    project: tuple[Scope, ScopeFacts, VectorArm],
) -> None:
    off = Knobs(mode=Mode.SEMANTIC, code_path=False)
    text = set(Chunk.objects.filter(note__path="text.md").values_list("pk", flat=True))
    for candidates in (found(project, knobs=off), found(project, ABOUT_TEXT)):
        assert {each.chunk_id for each in candidates} <= text


@pytest.mark.parametrize("fusion", list(Fusion))
def test_each_path_keeps_its_order_and_none_starves(
    project: tuple[Scope, ScopeFacts, VectorArm], fusion: Fusion
) -> None:
    candidates = found(project, knobs=Knobs(mode=Mode.SEMANTIC, fusion=fusion))
    meaning = [each.vector_rank for each in candidates if each.vector_rank]
    code = [each.code_rank for each in candidates if each.code_rank]
    assert meaning == sorted(meaning)
    assert code == sorted(code)
    first = candidates[:4]
    assert any(each.code_rank for each in first)
    assert any(each.vector_rank for each in first)


def test_code_that_is_far_off_is_left_where_it_is(
    project: tuple[Scope, ScopeFacts, VectorArm], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(path_sql, "NEARLY", 1.0)
    with_path = found(project)
    without = found(project, knobs=Knobs(mode=Mode.SEMANTIC, code_path=False))
    assert with_path == without


def test_a_scope_without_code_and_a_question_about_text_have_the_statement_they_had(
    project: tuple[Scope, ScopeFacts, VectorArm],
) -> None:
    scope, facts, vectors = project
    bare = replace(facts, vaults=tuple(replace(vault, code=0) for vault in facts.vaults))

    def statement(text: str, facts: ScopeFacts, knobs: Knobs) -> str:
        return search_statement(
            parse_query(text), scope=scope, facts=facts, knobs=knobs, vectors=[vectors]
        )[0]

    off = statement(ABOUT_TEXT, facts, Knobs(code_path=False))
    assert statement(ABOUT_TEXT, facts, Knobs()) == off
    assert statement(ABOUT_CODE, bare, Knobs()) == off
    assert statement(ABOUT_CODE, facts, Knobs()) != off


def test_a_search_for_code_asks_the_database_no_more_often(
    project: tuple[Scope, ScopeFacts, VectorArm],
) -> None:
    counts = []
    for text in (ABOUT_TEXT, ABOUT_CODE):
        with CaptureQueriesContext(connection) as queries:
            found(project, text)
        counts.append(len([q for q in queries if "SAVEPOINT" not in q["sql"]]))
    assert counts == [2, 2]


@pytest.mark.parametrize(
    ("knobs", "text", "has_vectors", "why_not"),
    [
        (Knobs(), ABOUT_CODE, True, ""),
        (Knobs(), f"{ABOUT_TEXT} kind:code", True, ""),
        (Knobs(code_path=False), ABOUT_CODE, True, "off"),
        (Knobs(), ABOUT_TEXT, True, "question"),
        (Knobs(), ABOUT_CODE, False, "vectors"),
        (Knobs(mode=Mode.KEYWORD), ABOUT_CODE, True, "vectors"),
    ],
)
def test_why_the_path_is_not_gone_is_told(
    cast: Cast, knobs: Knobs, text: str, why_not: str, *, has_vectors: bool
) -> None:
    write_markdown(cast.vault, "pump.py", "def open_pump():\n    return True\n")
    facts = scope_facts(scope_for(cast.owner))
    assert facts.code == 1
    query = parse_query(text, operators=True)
    path = code_path(query, facts=facts, knobs=knobs, has_vectors=has_vectors)
    assert (path.runs, path.why_not) == (not why_not, why_not)


@pytest.mark.parametrize(("wanted", "limit"), [(1, 20), (8, 40), (30, 150), (100, 200)])
def test_five_times_what_is_wanted_within_bounds(wanted: int, limit: int) -> None:
    assert path_sql.code_limit(wanted) == limit


@pytest.mark.parametrize("in_memory", [False, True])
def test_the_search_page_says_what_was_found_in_code(cast: Cast, *, in_memory: bool) -> None:
    write_markdown(cast.vault, "pump.py", "def open_pump():\n    return 'the pump opens'\n")
    write_markdown(cast.vault, "Pump.md", "# Pump\n\nWho opens the pump is written here.\n")
    embed(cast.vault, make_embedding_model())
    if in_memory:
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute(
                "ALTER TABLE vault_chunkvector ALTER COLUMN vector TYPE real[] USING vector::real[]"
            )
    result = search(cast.owner, ABOUT_CODE)
    assert paths(result)[0] == "pump.py"
    assert "code 1" in result.hits[0].arms
    assert (arm(result, "code").ran, arm(result, "code").found) == (True, 1)
    assert arm(result, "code").path == ("exact in memory" if in_memory else "exact")
    other = arm(search(cast.owner, ABOUT_TEXT), "code")
    assert (other.ran, other.found) == (False, 0)
    assert "no sign" in other.reason


def test_labels_name_the_path() -> None:
    candidate = Candidate(chunk_id=1, note_id=1, score=1.0, vector_rank=4, code_rank=2)
    assert arm_labels(candidate) == ("meaning 4", "code 2")


@pytest.mark.parametrize(
    "question",
    [
        "What is the preferred payment method?",
        "method of payment preferred by the customer",
        "what function has the preferred payment of the customer",
    ],
)
def test_a_note_that_keywords_and_meaning_put_first_stays_first(cast: Cast, question: str) -> None:
    text = "The preferred payment method is chosen by the customer. It has a function."
    write_markdown(cast.vault, "Payment.md", f"# Settings\n\n{text}\n")
    code = 'class PaymentMethod:\n    """How a customer pays: the method."""\n'
    write_markdown(cast.vault, "payment.py", code)
    write_markdown(cast.vault, "Garden.md", "# Garden\n\nThe heron sleeps by the pond.\n")
    embed(cast.vault, make_embedding_model())
    result = search(cast.owner, question)
    assert paths(result)[0] == "Payment.md"
    assert result.hits[0].arms[:2] == ("keyword 1", "meaning 1")


def test_where_the_word_for_code_is_a_weak_sign_code_is_added_and_order_stays(
    project: tuple[Scope, ScopeFacts, VectorArm],
) -> None:
    knobs = Knobs(mode=Mode.SEMANTIC, passages=TOP)
    before = found(project, "the pump method", knobs=replace(knobs, code_path=False))
    after = found(project, "the pump method", knobs=knobs)
    assert [each.chunk_id for each in after[: len(before)]] == [each.chunk_id for each in before]
    assert [each.code_rank for each in after[len(before) :]] == list(range(1, 31))
