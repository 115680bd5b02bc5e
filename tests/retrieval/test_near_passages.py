"""Passages compared by the signs of their vectors, in place of an index that would miss some."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.test.utils import CaptureQueriesContext, override_settings

from providers.models import EmbeddingModel
from retrieval import near_passages as module
from retrieval import reading_signs
from retrieval.arms import search_queries
from retrieval.core.query import parse_query
from retrieval.core.types import Knobs, Mode
from retrieval.facts import ScopeFacts, scope_facts
from retrieval.meaning import VectorArm
from retrieval.near_passages import keep_passages, near_passages
from retrieval.statements import Found, run_search
from tests.cast import Cast, make_vault
from tests.retrieval.crowd import build_index, fill, unit
from tests.retrieval.library import embed, make_embedding_model, write_note
from vault.access import scope_for
from vault.fields import Vector
from vault.models import Chunk, Note, VaultMember

pytestmark = pytest.mark.django_db

DIMENSIONS = 36


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    yield
    if module._reader is not None:
        module._reader.join()
    for kept in (module._kept, module._looked, reading_signs._centres):
        kept.clear()


@pytest.fixture
def model(cast: Cast) -> EmbeddingModel:
    return make_embedding_model(dimensions=DIMENSIONS)


def directions(count: int, *, seed: int = 5) -> list[Vector]:
    return [unit(row) for row in np.random.default_rng(seed).normal(size=(count, DIMENSIONS))]


def chunk_of(number: int) -> int:
    return int(Chunk.objects.order_by("pk")[number].pk)


def in_a_large_index(cast: Cast) -> ScopeFacts:
    return replace(
        scope_facts(scope_for(cast.owner)), is_small=False, is_bearable=False, is_large=True
    )


def search(
    cast: Cast,
    model: EmbeddingModel,
    query: Vector,
    *,
    text: str = "pump",
    knobs: Knobs | None = None,
    is_small: bool = False,
) -> Found:
    scope = scope_for(cast.owner)
    return run_search(
        parse_query(text, operators=True),
        scope=scope,
        facts=replace(in_a_large_index(cast), is_small=is_small),
        knobs=knobs or Knobs(mode=Mode.SEMANTIC, depth=10),
        vectors=[VectorArm(model, scope.vault_ids, query=query)],
    )


@pytest.mark.parametrize("is_small", [False, True])
def test_the_nearest_passages_are_found_without_comparing_all_vectors(
    cast: Cast, model: EmbeddingModel, *, is_small: bool
) -> None:
    vectors = directions(400)
    other = make_vault("other", owner=cast.owner)
    fill(cast.vault, model, vectors[:300])
    fill(other, model, vectors[300:])
    query = directions(1, seed=9)[0]
    keep_passages(model, (cast.vault.pk, other.pk))
    found = search(cast, model, query, is_small=is_small)
    true = np.argsort([-float(vector @ query) for vector in vectors])[:10]
    assert found.by_signs
    assert [c.chunk_id for c in found.candidates] == [chunk_of(int(place)) for place in true]
    assert [c.vector_rank for c in found.candidates] == list(range(1, 11))
    assert {c.note_rank for c in found.candidates} == {None}


def test_what_was_written_since_is_found_at_once(cast: Cast, model: EmbeddingModel) -> None:
    fill(cast.vault, model, directions(1_000))
    keep_passages(model, (cast.vault.pk,))
    query = directions(1, seed=9)[0]
    late = fill(cast.vault, model, [query], path="late.md")
    assert search(cast, model, query).candidates[0].note_id == late.pk


def test_passages_that_are_gone_are_passed_over(cast: Cast, model: EmbeddingModel) -> None:
    vectors = directions(50)
    fill(cast.vault, model, vectors[:40])
    gone = fill(cast.vault, model, vectors[40:], path="gone.md")
    keep_passages(model, (cast.vault.pk,))
    gone.delete()
    found = search(cast, model, vectors[45])
    assert len(found.candidates) == 10
    assert gone.pk not in {candidate.note_id for candidate in found.candidates}


@pytest.mark.parametrize(
    ("text", "knobs"),
    [
        ('"pump of steel"', Knobs(mode=Mode.SEMANTIC, depth=10)),
        ("pump", Knobs(mode=Mode.SEMANTIC, depth=10, ef_search=77)),
    ],
)
def test_phrases_and_a_chosen_width_ask_the_index(
    cast: Cast, model: EmbeddingModel, text: str, knobs: Knobs
) -> None:
    fill(cast.vault, model, directions(50), body="a pump of steel")
    build_index(model)
    keep_passages(model, (cast.vault.pk,))
    found = search(cast, model, directions(1)[0], text=text, knobs=knobs)
    assert not found.by_signs
    assert len(found.candidates) == 10


@pytest.mark.parametrize(
    "text", ["pump folder:near", "pump -folder:far", "pump tag:kept", "pump -rust"]
)
def test_what_may_not_be_found_takes_nobody_s_place(
    cast: Cast, model: EmbeddingModel, text: str
) -> None:
    """Nearer by far than all that may be found, and more than are handed over."""
    query = directions(1, seed=9)[0]
    nearer = [unit(query + each / 40) for each in directions(1_100, seed=7)]
    fill(cast.vault, model, nearer, path="far/a.md", body="Nothing but rust.")
    kept = fill(cast.vault, model, directions(40), path="near/b.md", tags=["kept"])
    keep_passages(model, (cast.vault.pk,))
    found = search(cast, model, query, text=text)
    assert found.by_signs
    assert len(found.candidates) == 10
    assert {candidate.note_id for candidate in found.candidates} == {kept.pk}


def test_a_tag_that_was_taken_away_since_no_longer_lets_through(
    cast: Cast, model: EmbeddingModel
) -> None:
    note = fill(cast.vault, model, directions(20), tags=["kept"])
    keep_passages(model, (cast.vault.pk,))
    query = directions(1, seed=9)[0]
    assert search(cast, model, query, text="pump tag:kept").candidates
    Note.objects.filter(pk=note.pk).update(tags=[])
    assert not search(cast, model, query, text="pump tag:kept").candidates


def test_what_was_written_since_is_filtered_as_well(cast: Cast, model: EmbeddingModel) -> None:
    kept = fill(cast.vault, model, directions(20), path="near/b.md")
    keep_passages(model, (cast.vault.pk,))
    query = directions(1, seed=9)[0]
    fill(cast.vault, model, [query], path="far/late.md")
    late = fill(cast.vault, model, [query], path="near/late.md")
    found = search(cast, model, query, text="pump folder:near").candidates
    assert found[0].note_id == late.pk
    assert {candidate.note_id for candidate in found} == {kept.pk, late.pk}


def test_rights_to_folders_hold_beside_signs(cast: Cast, model: EmbeddingModel) -> None:
    query = directions(1, seed=9)[0]
    nearer = [unit(query + each / 40) for each in directions(1_100, seed=7)]
    fill(cast.vault, model, nearer, path="closed/a.md")
    opened = fill(cast.vault, model, directions(40), path="open/b.md")
    VaultMember.objects.filter(vault=cast.vault, user=cast.mate).update(hidden_folders=["closed"])
    keep_passages(model, (cast.vault.pk,))
    scope = scope_for(cast.mate)
    found = run_search(
        parse_query("pump"),
        scope=scope,
        facts=in_a_large_index(cast),
        knobs=Knobs(mode=Mode.SEMANTIC, depth=10),
        vectors=[VectorArm(model, scope.vault_ids, query=query)],
    )
    assert scope.rules
    assert found.by_signs
    assert {candidate.note_id for candidate in found.candidates} == {opened.pk}


def test_few_notes_that_may_be_found_are_compared_whole(cast: Cast, model: EmbeddingModel) -> None:
    fill(cast.vault, model, directions(50), path="n/n.md")
    keep_passages(model, (cast.vault.pk,))
    found = search(cast, model, directions(1)[0], text="pump folder:n", is_small=True)
    assert not found.by_signs
    assert len(found.candidates) == 10


@override_settings(SEARCH_KEPT_PASSAGES=4)
def test_nothing_is_read_where_nothing_may_be_kept(cast: Cast, model: EmbeddingModel) -> None:
    fill(cast.vault, model, directions(5))
    own = (cast.vault.pk,)
    assert near_passages(directions(1)[0], model=model, vault_ids=own, chunks=5) is None
    assert module._looked == {}


@override_settings(SEARCH_KEPT_PASSAGES=10)
def test_the_vaults_asked_about_last_stay_in_memory(cast: Cast, model: EmbeddingModel) -> None:
    fill(cast.vault, model, directions(8))
    fill(cast.foreign_vault, model, directions(8))
    for vault in (cast.vault, cast.foreign_vault):
        keep_passages(model, (vault.pk,))
    assert [vault_id for _, vault_id in module._kept] == [cast.foreign_vault.pk]


def test_signs_are_read_again_when_much_was_written(
    cast: Cast, model: EmbeddingModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_LATE", 10)
    monkeypatch.setattr(module, "_MAYBE_LATE", 0)

    def kept_after(count: int) -> int:
        fill(cast.vault, model, directions(count), path=f"{count}.md")
        keep_passages(model, (cast.vault.pk,))
        [kept] = module._kept.values()
        return len(kept.chunk_ids)

    assert kept_after(20) == 20
    assert kept_after(5) == 20, "these the statement compares"
    assert kept_after(6) == 31


def test_no_vectors_leave_nothing_kept(cast: Cast, model: EmbeddingModel) -> None:
    keep_passages(model, (cast.vault.pk,))
    assert not module._kept


@pytest.mark.django_db(transaction=True)
def test_signs_are_read_behind_the_searches(
    cast: Cast, model: EmbeddingModel, caplog: pytest.LogCaptureFixture
) -> None:
    vectors = directions(60)
    fill(cast.vault, model, vectors)
    own = (cast.vault.pk,)
    with CaptureQueriesContext(connection) as seen, caplog.at_level(logging.ERROR):
        assert near_passages(vectors[7], model=model, vault_ids=own, chunks=60) is None
        assert module._reader is not None
        module._reader.join()
        found = near_passages(vectors[7], model=model, vault_ids=own, chunks=60)
    assert found is not None
    assert found.chunk_ids[0] == chunk_of(7)
    assert set(found.vault_ids) == {cast.vault.pk}
    assert len(seen) == 0
    assert not caplog.records


def test_a_search_says_that_it_compared_signs(cast: Cast, model: EmbeddingModel) -> None:
    write_note(cast.vault, "Pump.md", "the blue pump", "of the cellar")
    embed(cast.vault, model)
    keep_passages(model, (cast.vault.pk,))
    result = async_to_sync(search_queries)(
        [parse_query("blue pump")],
        scope=scope_for(cast.owner),
        facts=in_a_large_index(cast),
        knobs=Knobs(),
    )
    paths = {arm.name: (arm.ran, arm.path, arm.reason) for arm in result.arms}
    assert paths["meaning"][:2] == (True, "signs")
    assert "Every passage was compared" in paths["note"][2]
