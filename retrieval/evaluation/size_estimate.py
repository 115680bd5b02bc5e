"""What a trial of passage sizes takes, before it is begun."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Q, Sum

from providers.core.types import Usage
from providers.usage import cost_of
from retrieval.evaluation.size_steps import MOST_PASSAGES
from vault.core.passage_sizes import PassageSizes
from vault.models import Chunk, Vault


@dataclass(frozen=True, slots=True)
class TrialEstimate:
    """Tokens to be embedded (estimated, the most it may be) and USD at the price in the
    model's row. `is_whole`: every note of the vault is tried."""

    tokens: int
    cost: Decimal
    is_whole: bool


def trial_estimate(vault: Vault, sizes: PassageSizes) -> TrialEstimate:
    """What the vectors of a trial of `sizes` take. Passages as they are have theirs, unless a
    context line is part of them: the copies have none."""
    found = Chunk.objects.filter(vault=vault).aggregate(
        n=Count("pk"), every=Sum("tokens"), told=Sum("tokens", filter=~Q(context=""))
    )
    tokens = int(found["every"] or 0)
    passages = max(found["n"], -(-tokens // sizes.tokens), 1)
    share = min(1.0, MOST_PASSAGES / passages)
    needed = int((tokens + int(found["told"] or 0)) * share)
    model = vault.embedding_model
    cost = cost_of(model, Usage(input_tokens=needed)) if model else Decimal(0)
    return TrialEstimate(needed if model else 0, cost, is_whole=passages <= MOST_PASSAGES)
