"""Each embedding model is measured once there is enough to measure it by, and kept so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from providers.core.errors import Unreachable
from providers.core.protocols import Vectors
from providers.models import EmbeddingModel, UsageRecord
from providers.testing import HashEmbedder
from tests.cast import Cast
from tests.retrieval.library import make_embedding_model, write_note
from vault.core.noise import LEAST_PASSAGES
from vault.models import Chunk, ChunkVector
from vault.noise import is_noise_due, measure_noise
from vault.staleness import fingerprint
from vault.tasks import embed_vault_job, request_embed

pytestmark = pytest.mark.django_db


class Unwell(HashEmbedder):
    """Answers nobody."""

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        raise Unreachable(f"Nobody answers {len(texts)} questions.")


def fill(cast: Cast, model: EmbeddingModel, count: int, *, name: str = "long") -> None:
    """A note of so many passages, each with a vector of chance."""
    write_note(cast.vault, f"{name}.md", *(f"{name} {n}" for n in range(count)))
    dice = np.random.default_rng(count)
    rows = dice.normal(size=(count, model.dimensions)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    chunks = Chunk.objects.filter(note__path=f"{name}.md").order_by("pk")
    ChunkVector.objects.bulk_create(
        ChunkVector(
            vault=cast.vault,
            chunk=chunk,
            embedding_model=model,
            embed_hash=chunk.embed_hash,
            fingerprint=fingerprint(model),
            vector=row,
        )
        for chunk, row in zip(chunks, rows, strict=True)
    )
    cast.vault.embedding_model = model
    cast.vault.save(update_fields=["embedding_model"])


@pytest.fixture
def model() -> EmbeddingModel:
    return make_embedding_model()


def measured(model: EmbeddingModel) -> EmbeddingModel:
    measure_noise(model)
    model.refresh_from_db()
    return model


def test_a_model_is_measured_when_there_are_passages_enough(
    cast: Cast, model: EmbeddingModel
) -> None:
    fill(cast, model, LEAST_PASSAGES - 1)
    assert not is_noise_due(model)
    assert measure_noise(model) is None
    fill(cast, model, 1, name="one more")
    assert is_noise_due(model)
    kept = measured(model)
    assert kept.noise_bar is not None
    assert (kept.noise_passages, kept.noise_of) == (LEAST_PASSAGES, LEAST_PASSAGES)
    assert kept.noise_space == fingerprint(model)
    assert not is_noise_due(kept)


def test_it_is_measured_again_when_it_is_another_model_or_its_index_another_one(
    cast: Cast, model: EmbeddingModel
) -> None:
    fill(cast, model, LEAST_PASSAGES)
    kept = measured(model)
    fill(cast, model, LEAST_PASSAGES, name="as many again")
    assert measure_noise(kept) is None
    fill(cast, model, 1, name="more than twice as many")
    assert measured(kept).noise_of == 2 * LEAST_PASSAGES + 1
    kept.revision = "2"
    kept.save()
    assert not is_noise_due(kept), "none of its vectors are there yet"
    ChunkVector.objects.update(fingerprint=fingerprint(kept))
    assert is_noise_due(kept)


def test_the_end_of_embedding_measures(cast: Cast, model: EmbeddingModel) -> None:
    fill(cast, model, LEAST_PASSAGES)
    embed_vault_job(request_embed(cast.vault.pk))
    model.refresh_from_db()
    assert model.noise_space == fingerprint(model)


def test_a_model_that_cannot_be_asked_is_measured_another_time(
    cast: Cast, model: EmbeddingModel
) -> None:
    fill(cast, model, LEAST_PASSAGES)
    unwell = Unwell(dimensions=model.dimensions)
    with pytest.raises(Unreachable):
        measure_noise(model, backend_of=lambda _model: unwell)
    assert is_noise_due(model)


def test_what_a_measurement_costs_is_recorded(cast: Cast, model: EmbeddingModel) -> None:
    model.provider.kind = "openai"
    model.provider.save()
    fill(cast, model, LEAST_PASSAGES)
    fake = HashEmbedder(dimensions=model.dimensions)
    measure_noise(model, backend_of=lambda _model: fake)
    record = UsageRecord.objects.get(purpose="embed_query")
    assert record.input_tokens > 100


def test_the_bundled_model_keeps_its_bars(cast: Cast, model: EmbeddingModel) -> None:
    model.provider.kind = "local_e5"
    model.provider.save()
    fill(cast, model, LEAST_PASSAGES)
    assert not is_noise_due(model)
    assert measure_noise(model) is None
