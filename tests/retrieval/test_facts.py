"""What a search knows of its scope, and by which path vectors are compared."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from providers.models import EmbeddingModel, Provider
from retrieval import facts
from retrieval.facts import index_width, is_cheaper_exactly, scope_facts
from tests.cast import Cast
from tests.retrieval.library import embed, make_embedding_model, write_note
from vault.access import scope_for
from vault.lexemes import refresh_lexemes
from vault.models import ChunkVector, Job, Vault


@pytest.mark.parametrize(
    ("chunks", "indexed", "exactly"),
    [
        (0, 0, True),
        (6_000, 6_000, True),
        # A small index lies in the caches and misses next to nothing.
        (8_000, 8_000, False),
        (10_000, 10_000, False),
        (57_000, 57_000, False),
        # Half of it is of others.
        (10_000, 20_000, True),
        # There is none.
        (57_000, 0, True),
        (58_000, 0, False),
        (200_000, 200_000, False),
        # Of a large index an index scan would have to pass most rows over.
        (400, 1_000_000, True),
        (80_000, 1_000_000, True),
        (140_000, 1_000_000, True),
        (150_000, 1_000_000, False),
        (1_000_000, 1_000_000, False),
    ],
)
def test_a_scope_is_compared_one_by_one_where_that_costs_less(
    chunks: int, indexed: int, *, exactly: bool
) -> None:
    assert is_cheaper_exactly(chunks, indexed=indexed) is exactly


@pytest.mark.parametrize(
    ("chunks", "indexed", "width"),
    [
        (0, 0, 0.75),
        (10_000, 10_000, 0.775),
        (100_000, 100_000, 1),
        (200_000, 200_000, 2),
        # Half of what it looks at is of others.
        (50_000, 100_000, 2),
        (200_000, 400_000, 8),
        # More passages than vectors: some wait to be embedded.
        (60_000, 50_000, 0.875),
    ],
)
def test_the_index_looks_at_more_in_a_large_index_and_for_a_part_of_it(
    chunks: int, indexed: int, width: float
) -> None:
    assert index_width(chunks, indexed=indexed) == pytest.approx(width)


@pytest.fixture
def four(cast: Cast) -> Cast:
    """Four passages, where more than two are not counted."""
    write_note(cast.vault, "a.md", "one", "two", "three", text_config="english")
    write_note(cast.vault, "b.md", "eins", text_config="german")
    embed(cast.vault, make_embedding_model())
    return cast


@pytest.fixture
def counts_to_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "_COUNTED", 2)
    monkeypatch.setattr(facts, "_LEAST_COUNTED", 2)


@pytest.mark.django_db
def test_every_text_configuration_is_known(four: Cast) -> None:
    assert scope_facts(scope_for(four.owner)).text_configs == ("english", "german")


@pytest.mark.django_db
@pytest.mark.usefixtures("counts_to_two")
def test_beyond_the_counting_the_last_count_of_words_says_how_much_there_is(four: Cast) -> None:
    refresh_lexemes(force=True)
    known = scope_facts(scope_for(four.owner))
    assert (known.chunks, known.is_small, known.gaps()) == (4, True, ())


@pytest.mark.django_db
@pytest.mark.usefixtures("counts_to_two")
def test_a_vault_that_was_never_counted_whole_is_left_to_the_index(four: Cast) -> None:
    known = scope_facts(scope_for(four.owner))
    assert not known.is_small
    assert not known.is_readable
    assert known.gaps() == ()


@pytest.mark.django_db
def test_a_chunk_without_a_vector_is_a_gap(four: Cast) -> None:
    assert scope_facts(scope_for(four.owner)).gaps() == ()
    ChunkVector.objects.filter(chunk__content="two").delete()
    assert "Some of" in scope_facts(scope_for(four.owner)).gaps()[0]


@pytest.mark.django_db
def test_a_model_is_loaded_once_and_again_when_it_or_its_provider_changes(four: Cast) -> None:
    scope = scope_for(four.owner)
    changed = [EmbeddingModel.objects.filter(label=""), Provider.objects.filter(name="Fake")]
    for rows, value in zip(changed, ({"label": "Other"}, {"name": "Other"}), strict=True):
        scope_facts(scope)
        with CaptureQueriesContext(connection) as queries:
            scope_facts(scope)
        assert len(queries) == 1
        rows.update(**value)
        with CaptureQueriesContext(connection) as queries:
            (model,) = scope_facts(scope).models
        assert len(queries) == 3
    assert (str(model), str(model.provider)) == ("Other", "Other")


@pytest.mark.django_db
def test_what_changes_in_a_vault_or_its_model_shows_at_once(four: Cast) -> None:
    scope = scope_for(four.owner)
    assert scope_facts(scope).gaps() == ()
    EmbeddingModel.objects.update(revision="2")
    assert "has no vectors yet" in scope_facts(scope).gaps()[0]
    Vault.objects.filter(pk=four.vault.pk).update(embedding_model=None, name="Renamed")
    assert "Renamed is searched by keyword only" in scope_facts(scope).gaps()[0]
    four.vault.delete()
    assert scope_facts(scope).vaults == ()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("counted", "state", "told"),
    [
        (1, "running", True),
        (1, "queued", True),
        (1, "done", False),
        (500, "running", False),
    ],
)
def test_of_more_than_is_counted_the_work_tells_that_vectors_are_missing(
    four: Cast, monkeypatch: pytest.MonkeyPatch, counted: int, state: str, *, told: bool
) -> None:
    monkeypatch.setattr(facts, "_LEAST_COUNTED", counted)
    monkeypatch.setattr(facts, "_COUNTED", counted)
    Job.objects.create(key=f"embed:{four.vault.pk}", kind="embed", vault=four.vault, state=state)
    found = scope_facts(scope_for(four.owner)).gaps()
    assert bool(found) == told
    assert not found or "Some of" in found[0]
    Vault.objects.update(next_embedding_model=four.vault.embedding_model)
    assert scope_facts(scope_for(four.owner)).gaps() == (), "these are of the model to come"
