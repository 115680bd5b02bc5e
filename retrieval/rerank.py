"""The best candidates, ordered again by a model that reads question and text together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from providers.core.errors import ProviderError
from providers.core.types import RankedText, Usage
from providers.models import RerankModel, UsageRecord
from providers.registry import reranker
from providers.usage import arecord_usage
from retrieval.core.reranking import blend, split_for_rerank
from retrieval.core.types import Arm, Candidate
from retrieval.database import in_database
from retrieval.options import rerank_model
from vault.core.tokens import estimate_tokens
from vault.core.types import Scope
from vault.models import Chunk

# Candidates that are read again: more cost time and were never answers.
MOST_RERANKED = 30
# A reader waits for this: a reranker that needs longer is left out.
RERANK_SECONDS = 3.0
# Rerankers read 512 tokens or so; long texts also made them worse.
MOST_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class Reranked:
    """Candidates, best first, and what the reranker did."""

    candidates: tuple[Candidate, ...]
    arm: Arm


async def rerank(
    question: str,
    candidates: Sequence[Candidate],
    *,
    scope: Scope,
    user_id: int | None = None,
    seconds: float = RERANK_SECONDS,
) -> Reranked:
    """`candidates` (best first) with the top MOST_RERANKED ordered by both scores.

    Without a model, when it fails and when it takes more than `seconds`, the order stays
    and the arm says why.
    """
    named, head, rest = split_for_rerank(candidates, MOST_RERANKED)
    if len(head) < 2:
        return _as_it_was(candidates, _("There was nothing to rerank."))
    model = await in_database(rerank_model)
    if model is None:
        return _as_it_was(candidates, _("No reranking model can be used here."))
    texts = await in_database(_texts_of, head, scope)
    outcome = await _ask(question, texts, model, user_id=user_id, seconds=seconds)
    if isinstance(outcome, str):
        return _as_it_was(candidates, outcome)
    blended = blend(head, {ranked.index: ranked.score for ranked in outcome})
    arm = Arm("rerank", ran=True, found=len(outcome), path=str(model))
    return Reranked((*named, *blended, *rest), arm)


def _as_it_was(candidates: Sequence[Candidate], reason: str) -> Reranked:
    return Reranked(tuple(candidates), Arm("rerank", ran=False, reason=reason))


def _texts_of(candidates: Sequence[Candidate], scope: Scope) -> list[str]:
    """Heading path and text of each candidate; empty for one that vanished."""
    chunks = Chunk.objects.filter(
        vault_id__in=scope.vault_ids, pk__in=[candidate.chunk_id for candidate in candidates]
    ).values_list("pk", "heading_path", "content")
    texts = {pk: f"{' > '.join(headings)}\n\n{content}" for pk, headings, content in chunks}
    return [texts.get(candidate.chunk_id, "")[:MOST_CHARACTERS] for candidate in candidates]


async def _ask(
    question: str,
    texts: Sequence[str],
    model: RerankModel,
    *,
    user_id: int | None,
    seconds: float,
) -> list[RankedText] | str:
    """The reranker's scores, or a sentence that says why there are none."""
    started = time.monotonic()
    failure = ""
    names = {"model": model, "seconds": seconds}
    try:
        async with asyncio.timeout(seconds):
            return await reranker(model).rerank(question, texts, top_n=len(texts))
    except ProviderError as error:
        failure = error.code
        return _("Not reranked: %(model)s could not be asked: %(error)s") % {
            **names,
            "error": error,
        }
    except TimeoutError:
        failure = "silent"
        return _("Not reranked: %(model)s did not answer within %(seconds)g seconds.") % names
    finally:
        await arecord_usage(
            purpose=UsageRecord.Purpose.RERANK,
            model=model,
            usage=Usage(input_tokens=sum(map(estimate_tokens, (question, *texts)))),
            user_id=user_id,
            milliseconds=round((time.monotonic() - started) * 1000),
            failed_with=failure,
        )
