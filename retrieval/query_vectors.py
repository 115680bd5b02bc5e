"""Queries as vectors, under every embedding model of a scope."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from providers.core.errors import ProviderError
from providers.core.protocols import Vectors
from providers.core.types import Usage
from providers.models import EmbeddingModel, UsageRecord
from providers.registry import LOCAL_KINDS, embedder
from providers.usage import arecord_usage
from vault.core.tokens import estimate_tokens

# A reader waits for this: a model server that needs longer is taken for absent.
EMBED_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class QueryVectors:
    """float32 (queries, d) by model; `reasons` say which models could not be asked."""

    by_model: dict[EmbeddingModel, Vectors] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()


async def embed_queries(
    texts: Sequence[str], models: Iterable[EmbeddingModel], *, user_id: int | None = None
) -> QueryVectors:
    """Embed `texts` with each model. A model that fails is left out, with the reason."""
    wanted = list(models)
    outcomes = await asyncio.gather(*(_embed(texts, model, user_id) for model in wanted))
    return QueryVectors(
        {
            model: outcome
            for model, outcome in zip(wanted, outcomes, strict=True)
            if not isinstance(outcome, str)
        },
        tuple(outcome for outcome in outcomes if isinstance(outcome, str)),
    )


async def _embed(texts: Sequence[str], model: EmbeddingModel, user_id: int | None) -> Vectors | str:
    """The vectors, or a sentence that says why there are none."""
    started = time.monotonic()
    failure = ""
    try:
        async with asyncio.timeout(EMBED_SECONDS):
            return await embedder(model).embed_queries(texts)
    except ProviderError as error:
        failure = error.code
        return _("%(model)s could not be asked: %(error)s") % {"model": model, "error": error}
    except TimeoutError:
        failure = "silent"
        return _("%(model)s did not answer within %(seconds)d seconds.") % {
            "model": model,
            "seconds": EMBED_SECONDS,
        }
    finally:
        if model.provider.kind not in LOCAL_KINDS:
            await arecord_usage(
                purpose=UsageRecord.Purpose.EMBED_QUERY,
                model=model,
                usage=Usage(input_tokens=sum(map(estimate_tokens, texts))),
                user_id=user_id,
                milliseconds=round((time.monotonic() - started) * 1000),
                failed_with=failure,
            )
