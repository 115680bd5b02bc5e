"""Nothing near is nothing found: short queries by the bundled embedder."""

from __future__ import annotations

import numpy as np
import pytest
from asgiref.sync import async_to_sync

from providers.models import EmbeddingModel
from providers.presets import load_presets
from providers.registry import default_embedding_model, embedder
from retrieval.core.types import Mode
from retrieval.search import search_notes
from tests.cast import Cast
from tests.retrieval.library import make_embedding_model, write_note
from vault.access import scope_for
from vault.fields import Vector
from vault.lexemes import know_lexemes
from vault.models import Chunk, ChunkVector, Note
from vault.staleness import fingerprint

pytestmark = pytest.mark.django_db

UNKNOWN, MENDED, KNOWN = "zzqqxx wwvvyy", "symphonie orchestr", "music orchestra"


def place(cast: Cast, note: Note, query: str, *, cosine: float) -> None:
    """Give the one chunk of `note` a vector of this cosine to `query`."""
    load_presets()
    model = default_embedding_model()
    assert model is not None
    asked = np.asarray(async_to_sync(embedder(model).embed_queries)([query]))[0]
    write_vector(cast, note, model, asked, cosine=cosine)


def write_vector(
    cast: Cast, note: Note, model: EmbeddingModel, asked: Vector, *, cosine: float
) -> None:
    """Give the one chunk of `note` a vector of this cosine to `asked`; let `model` serve."""
    away = np.eye(len(asked), dtype=np.float32)[0]
    away -= (away @ asked) * asked
    away /= np.linalg.norm(away)
    chunk = Chunk.objects.get(note=note)
    ChunkVector.objects.create(
        vault=cast.vault,
        chunk=chunk,
        embedding_model=model,
        embed_hash=chunk.embed_hash,
        fingerprint=fingerprint(model),
        vector=cosine * asked + np.sqrt(1 - cosine**2) * away,
    )
    cast.vault.embedding_model = model
    cast.vault.save()


@pytest.mark.parametrize(
    ("query", "cosine", "expected"),
    [
        (UNKNOWN, 0.27, []),
        (UNKNOWN, 0.29, ["evening.md"]),
        # Keywords took `orchestr` for the word of the note: no sign that the note is meant.
        (MENDED, 0.27, []),
        (MENDED, 0.29, ["evening.md"]),
        (KNOWN, 0.18, ["evening.md"]),
    ],
)
def test_two_words_that_stand_nowhere_find_only_what_is_rather_near(
    cast: Cast, query: str, cosine: float, expected: list[str]
) -> None:
    note = write_note(cast.vault, "evening.md", "The orchestra plays in the evening.")
    know_lexemes([note.pk])
    place(cast, note, query, cosine=cosine)
    scope = scope_for(cast.owner)
    found = async_to_sync(search_notes)(query, scope=scope, mode=Mode.HYBRID, limit=5)
    assert [hit.path for hit in found.hits] == expected
    said = " ".join(arm.reason for arm in found.arms)
    assert ("nothing here is near" in said) is not bool(expected)
    assert ("orchestr →" in said) is (query == MENDED)


@pytest.mark.parametrize(
    ("bar", "space", "expected"),
    [
        (0.5, "", ["evening.md"]),
        (0.5, "now", []),
        (0.3, "now", ["evening.md"]),
        (None, "now", ["evening.md"]),
    ],
)
def test_the_bar_of_another_model_is_what_was_measured_of_it(
    cast: Cast, bar: float | None, space: str, expected: list[str]
) -> None:
    note = write_note(cast.vault, "evening.md", "The orchestra plays in the evening.")
    write_note(cast.vault, "enough.md", *(f"Paragraph {n}." for n in range(50)))
    query = "How long should a soft egg cook"
    model = make_embedding_model()
    asked = np.asarray(async_to_sync(embedder(model).embed_queries)([query]))[0]
    write_vector(cast, note, model, asked, cosine=0.4)
    model.noise_bar, model.noise_space = bar, fingerprint(model) if space else ""
    model.save()
    scope = scope_for(cast.owner)
    found = async_to_sync(search_notes)(query, scope=scope, mode=Mode.HYBRID, limit=5)
    assert [hit.path for hit in found.hits] == expected
    said = " ".join(found.notices)
    assert ("nothing here is near in meaning (best similarity 0.40)" in said) is not bool(expected)


def test_among_a_few_passages_a_question_may_be_further_off(cast: Cast) -> None:
    """The nearest of a few is further off, and a wrong "nothing here" is worse there."""
    note = write_note(cast.vault, "evening.md", "The orchestra plays in the evening.")
    query = "How long should a soft egg cook"
    place(cast, note, query, cosine=0.2)
    scope = scope_for(cast.owner)

    def found() -> list[str]:
        result = async_to_sync(search_notes)(query, scope=scope, mode=Mode.HYBRID, limit=5)
        return [hit.path for hit in result.hits]

    assert found() == ["evening.md"]
    write_note(cast.vault, "enough.md", *(f"Paragraph {n}." for n in range(50)))
    assert found() == []


def test_a_word_typed_over_and_over_is_one_word(cast: Cast) -> None:
    note = write_note(cast.vault, "evening.md", "The orchestra plays in the evening.")
    know_lexemes([note.pk])
    query = "orchestra " * 200
    place(cast, note, query.strip(), cosine=0.1)
    scope = scope_for(cast.owner)
    found = async_to_sync(search_notes)(query, scope=scope, mode=Mode.HYBRID, limit=5)
    assert [hit.path for hit in found.hits] == ["evening.md"]
