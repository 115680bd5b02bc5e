"""Where chance ends under an embedding model: measured on passages of its vaults, and kept."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from asgiref.sync import async_to_sync
from django.db.models import F, Func, IntegerField, QuerySet

from providers.core.errors import ProviderError
from providers.core.protocols import Embedder, Vectors
from providers.core.types import Usage
from providers.limits import FREE_KINDS
from providers.models import EmbeddingModel
from providers.registry import embedder
from providers.usage import record_usage
from vault.core.noise import LEAST_PASSAGES, MOST_PASSAGES, QUESTIONS, Noise, noise_of
from vault.core.tokens import estimate_tokens
from vault.models import ChunkVector
from vault.staleness import fingerprint

# Their bars were measured by hand, on questions that are answered and others.
_KNOWN_KINDS = frozenset({"local_e5"})
# An index that grew or shrank so many times is another one.
_MUCH = 2


def is_noise_due(model: EmbeddingModel) -> bool:
    """Whether there are passages enough to measure `model` by, and it was not, or as another
    one."""
    if model.provider.kind in _KNOWN_KINDS or model.noise_space == fingerprint(model):
        return False
    return _vectors(model)[LEAST_PASSAGES - 1 : LEAST_PASSAGES].exists()


def measure_noise(
    model: EmbeddingModel, *, backend_of: Callable[[EmbeddingModel], Embedder] = embedder
) -> Noise | None:
    """Measure `model` where it is due or its index changed much since; None where it is not.

    Costs one call with some fifty short questions. Raises ProviderError.
    """
    if model.provider.kind in _KNOWN_KINDS:
        return None
    count = _vectors(model).count()
    is_same = model.noise_space == fingerprint(model)
    if count < LEAST_PASSAGES or (is_same and _is_near(count, model.noise_of)):
        return None
    shuffled = _vectors(model).order_by(
        Func(F("chunk_id"), function="hashint8", output_field=IntegerField()), "chunk_id"
    )
    rows = list(shuffled.values_list("vector", flat=True)[:MOST_PASSAGES])
    questions = _embedded(model, backend_of(model))
    noise = noise_of(questions, np.stack(rows))
    EmbeddingModel.objects.filter(pk=model.pk).update(
        noise_bar=noise.bar,
        noise_spread=noise.spread,
        noise_passages=noise.passages,
        noise_of=count,
        noise_space=fingerprint(model),
    )
    return noise


def _vectors(model: EmbeddingModel) -> QuerySet[ChunkVector]:
    return ChunkVector.objects.filter(embedding_model=model, fingerprint=fingerprint(model))


def _is_near(count: int, before: int) -> bool:
    return before <= count * _MUCH and count <= before * _MUCH


def _embedded(model: EmbeddingModel, backend: Embedder) -> Vectors:
    started = time.monotonic()
    failed_with = ""
    try:
        return async_to_sync(backend.embed_queries)(QUESTIONS)
    except ProviderError as error:
        failed_with = error.code
        raise
    finally:
        if model.provider.kind not in FREE_KINDS:
            record_usage(
                purpose="embed_query",
                model=model,
                usage=Usage(input_tokens=sum(map(estimate_tokens, QUESTIONS))),
                user_id=None,
                milliseconds=int((time.monotonic() - started) * 1000),
                failed_with=failed_with,
            )
