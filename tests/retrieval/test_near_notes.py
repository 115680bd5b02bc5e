"""Whole notes near to a question: compared in memory, measured by the statement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.test.utils import CaptureQueriesContext

from providers.models import EmbeddingModel
from retrieval import near_notes as module
from retrieval import reading_signs
from retrieval.arms import search_queries
from retrieval.core.fusion import arm_labels
from retrieval.core.query import parse_query
from retrieval.core.types import Arm, Candidate, Knobs, Mode
from retrieval.facts import scope_facts
from retrieval.meaning import VectorArm
from retrieval.near_notes import near_notes
from retrieval.statements import run_search
from tests.cast import Cast, make_vault
from tests.retrieval.crowd import build_index, fill, unit
from tests.retrieval.library import embed, make_embedding_model, write_note
from vault.access import scope_for
from vault.core.types import Scope
from vault.fields import Vector
from vault.models import Note, NoteVector, Vault
from vault.note_vectors import write_note_vectors
from vault.staleness import fingerprint

pytestmark = pytest.mark.django_db

DIMENSIONS = 36  # no whole number of bytes


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    yield
    module._kept.clear()
    reading_signs._centres.clear()


@pytest.fixture
def model(cast: Cast) -> EmbeddingModel:
    return make_embedding_model(dimensions=DIMENSIONS)


def directions(count: int, *, seed: int = 5) -> list[Vector]:
    numbers = np.random.default_rng(seed).normal(size=(count, DIMENSIONS))
    return [unit(row) for row in numbers]


def add_notes(vault: Vault, model: EmbeddingModel, vectors: list[Vector]) -> list[int]:
    """A note for each vector; only its own vector, no passage."""
    first = Note.objects.count()
    notes = Note.objects.bulk_create(
        Note(
            vault=vault, path=f"{first + number}.md", title="n", content_hash="x",
            file_modified="2026-01-01T00:00Z",
        )
        for number in range(len(vectors))
    )  # fmt: skip
    NoteVector.objects.bulk_create(
        NoteVector(
            vault=vault, note=note, embedding_model=model, embed_hash="x",
            fingerprint=fingerprint(model), vector=vector,
        )
        for note, vector in zip(notes, vectors, strict=True)
    )  # fmt: skip
    return [note.pk for note in notes]


def ids(found: tuple[module.NearNote, ...]) -> list[int]:
    return [note.note_id for note in found]


def test_the_note_in_the_direction_of_the_question_comes_first(
    cast: Cast, model: EmbeddingModel
) -> None:
    other = make_vault("other", owner=cast.owner)
    vectors = directions(300)
    here = add_notes(cast.vault, model, vectors[:200])
    there = add_notes(other, model, vectors[200:])
    for place, note_id in ((3, here[3]), (250, there[50])):
        found = near_notes(vectors[place], model=model, vault_ids=(cast.vault.pk, other.pk))
        assert found[0].note_id == note_id
        assert len(found) == module.MOST_NEAR


def test_only_notes_of_the_vaults_asked_for_are_near(cast: Cast, model: EmbeddingModel) -> None:
    vectors = directions(20)
    own = add_notes(cast.vault, model, vectors[:10])
    add_notes(cast.foreign_vault, model, vectors[10:])
    near_notes(vectors[0], model=model, vault_ids=(cast.vault.pk, cast.foreign_vault.pk))
    found = near_notes(vectors[15], model=model, vault_ids=(cast.vault.pk,))
    assert sorted(ids(found)) == own
    assert {note.vault_id for note in found} == {cast.vault.pk}


def test_what_all_notes_share_decides_nothing(cast: Cast, model: EmbeddingModel) -> None:
    """Of embedders whose vectors all point one way each sign would be that of all."""
    shared = 20 * unit(np.abs(directions(1)[0]))
    vectors = [unit(row + shared) for row in directions(50)]
    notes = add_notes(cast.vault, model, vectors)
    for place in (0, 20, 49):
        found = near_notes(vectors[place], model=model, vault_ids=(cast.vault.pk,))
        assert found[0].note_id == notes[place]


def test_signs_are_read_once_and_again_after_a_while_if_notes_were_written(
    cast: Cast, model: EmbeddingModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = directions(6)
    notes = add_notes(cast.vault, model, vectors[:5])

    def asked() -> tuple[int, list[int]]:
        with CaptureQueriesContext(connection) as seen:
            found = near_notes(vectors[5], model=model, vault_ids=(cast.vault.pk,))
        return len(seen), ids(found)

    assert sorted(asked()[1]) == notes
    assert asked()[0] == 0
    late = add_notes(cast.vault, model, vectors[5:])
    assert asked()[0] == 0
    monkeypatch.setattr(module, "RENEW_AFTER", -1.0)
    queries, found = asked()
    assert (queries, found[0]) == (2, late[0])
    assert asked()[0] == 1, "nothing was written: only that is looked for"


def test_a_vault_without_note_vectors_brings_none(cast: Cast, model: EmbeddingModel) -> None:
    assert near_notes(directions(1)[0], model=model, vault_ids=(cast.vault.pk,)) == ()
    add_notes(cast.foreign_vault, model, directions(3))
    both = (cast.vault.pk, cast.foreign_vault.pk)
    assert len(near_notes(directions(1)[0], model=model, vault_ids=both)) == 3


def test_the_vaults_asked_about_last_stay_in_memory(
    cast: Cast, model: EmbeddingModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_KEPT", 10)
    add_notes(cast.vault, model, directions(8))
    add_notes(cast.foreign_vault, model, directions(8))
    for vault in (cast.vault, cast.foreign_vault):
        near_notes(directions(1)[0], model=model, vault_ids=(vault.pk,))
    assert [vault_id for _, vault_id in module._kept] == [cast.foreign_vault.pk]


def missed_by_the_index(cast: Cast, model: EmbeddingModel) -> tuple[Scope, VectorArm, int]:
    """A note whose passages no index finds: theirs are not among its vectors."""
    query = directions(1, seed=9)[0]
    fill(cast.vault, model, directions(300), path="crowd.md")
    build_index(model)
    with connection.cursor() as cursor:
        # As a graph to which no way leads: the index stays as it was.
        cursor.execute(
            "UPDATE pg_index SET indisready = FALSE "
            "WHERE indexrelid IN (SELECT oid FROM pg_class WHERE relname LIKE 'chunkvector_hnsw%')"
        )
    fill(cast.vault, model, [query, unit(query + directions(1)[0] / 4)], path="lost.md")
    lost = Note.objects.get(path="lost.md")
    NoteVector.objects.create(
        vault=cast.vault, note=lost, embedding_model=model, embed_hash="x",
        fingerprint=fingerprint(model), vector=query,
    )  # fmt: skip
    scope = scope_for(cast.owner)
    return scope, VectorArm(model, scope.vault_ids, query=query), lost.pk


@pytest.mark.parametrize("note_vectors", [True, False])
def test_passages_that_the_index_misses_are_found_by_their_note(
    cast: Cast, model: EmbeddingModel, *, note_vectors: bool
) -> None:
    scope, arm, lost = missed_by_the_index(cast, model)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
    facts = replace(scope_facts(scope), is_small=False, is_missing=True)
    found = run_search(
        parse_query("pump"),
        scope=scope,
        facts=facts,
        knobs=Knobs(mode=Mode.SEMANTIC, depth=10, note_vectors=note_vectors),
        vectors=[arm],
    ).candidates
    places = [candidate.note_rank for candidate in found if candidate.note_id == lost]
    assert places == ([1, 1] if note_vectors else [])
    assert {candidate.note_rank for candidate in found if candidate.note_id != lost} == {None}
    assert [candidate.vector_rank for candidate in found] == list(range(1, 11))
    assert len({candidate.chunk_id for candidate in found}) == len(found) == 10


def note_arm(
    cast: Cast, *, is_small: bool, knobs: Knobs, is_missing: bool = True
) -> tuple[Arm, tuple[Candidate, ...]]:
    scope = scope_for(cast.owner)
    facts = replace(scope_facts(scope), is_small=is_small, is_missing=is_missing)
    found = async_to_sync(search_queries)(
        [parse_query("blue pump")], scope=scope, facts=facts, knobs=knobs
    )
    return next(arm for arm in found.arms if arm.name == "note"), found.lists[0]


def test_a_search_tells_how_many_whole_notes_brought_passages(
    cast: Cast, model: EmbeddingModel
) -> None:
    for name in ("Pumps", "Valves"):
        write_note(cast.vault, f"{name}.md", f"the blue {name}", "of the cellar")
    embed(cast.vault, model)
    told, _ = note_arm(cast, is_small=False, knobs=Knobs())
    assert (told.ran, told.reason) == (False, "No whole note has a vector yet.")
    write_note_vectors(cast.vault.pk, model)
    reading_signs._centres.clear()
    module._kept.clear()
    told, candidates = note_arm(cast, is_small=False, knobs=Knobs())
    assert (told.ran, told.found, told.path) == (True, 2, "signs")
    assert {candidate.note_rank for candidate in candidates} == {1, 2}
    assert "note 1" in [label for c in candidates for label in arm_labels(c)]
    told, _ = note_arm(cast, is_small=False, knobs=Knobs(), is_missing=False)
    assert (told.ran, "misses next to nothing" in told.reason) == (False, True)
    for is_small, knobs, reason in (
        (True, Knobs(), "Every passage was compared"),
        (False, Knobs(note_vectors=False), "switched off"),
        (False, Knobs(mode=Mode.KEYWORD), "nothing was"),
    ):
        told, candidates = note_arm(cast, is_small=is_small, knobs=knobs)
        assert (told.ran, told.found) == (False, 0)
        assert reason in told.reason
        assert {candidate.note_rank for candidate in candidates} == {None}
