"""What an owner sees of how a vault is made searchable by meaning, and may choose."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Sum

from providers.core.types import Usage
from providers.models import EmbeddingModel
from providers.registry import available_embedding_models
from providers.usage import cost_of
from vault.generations import Generation, generation
from vault.models import Chunk, Upkeep, Vault
from vault.staleness import stale_chunks
from vault.status import CurrentJob, current_jobs


@dataclass(frozen=True, slots=True)
class SwitchEstimate:
    """What it takes until a model serves: chunks that it has no vector of, their tokens
    (estimated), and USD at the price in the model's row."""

    model: EmbeddingModel
    passages: int
    tokens: int
    cost: Decimal


@dataclass(frozen=True, slots=True)
class CuttingEstimate:
    """Passages of a vault, their tokens (estimated), and USD to embed them with its model."""

    passages: int
    tokens: int
    cost: Decimal


@dataclass(frozen=True, slots=True)
class IndexPage:
    """Who serves, who is to follow, and who could again until `kept_until`."""

    vault: Vault
    serving: Generation | None
    following: Generation | None
    previous: EmbeddingModel | None
    kept_until: datetime | None
    choices: tuple[EmbeddingModel, ...]
    job: CurrentJob | None

    @property
    def is_moving(self) -> bool:
        """Whether looking again in a moment shows something else."""
        waits = self.vault.switch_verdict == self.vault.SwitchVerdict.WORSE
        return self.job is not None or (self.following is not None and not waits)


def index_page(vault: Vault) -> IndexPage:
    """Everything the page shows of a vault's vectors."""
    serving, following = vault.embedding_model, vault.next_embedding_model
    before = vault.previous_embedding_model
    kinds = {"embed", "switch", "try_switch", "cleanup", "vector_index"}
    jobs = [job for job in current_jobs(vault) if job.kind in kinds]
    return IndexPage(
        vault=vault,
        serving=generation(vault.pk, serving) if serving else None,
        following=generation(vault.pk, following) if following else None,
        previous=before,
        kept_until=_kept_until(vault) if before else None,
        choices=tuple(available_embedding_models()),
        job=next(iter(jobs), None),
    )


def switch_estimate(vault_id: int, model: EmbeddingModel) -> SwitchEstimate:
    """What `model` would have to embed before it serves the vault."""
    stale = stale_chunks(vault_id, model)
    tokens = int(stale.aggregate(tokens=Sum("tokens"))["tokens"] or 0)
    return SwitchEstimate(model, stale.count(), tokens, cost_of(model, Usage(input_tokens=tokens)))


def cutting_estimate(vault: Vault) -> CuttingEstimate | None:
    """What other sizes of passages would have embedded anew; None where nothing was cut yet.

    The passages as they are: other sizes have about as many tokens, in more or fewer of them.
    """
    found = Chunk.objects.filter(vault=vault).aggregate(n=Count("pk"), tokens=Sum("tokens"))
    if not found["n"]:
        return None
    tokens, model = int(found["tokens"] or 0), vault.embedding_model
    cost = cost_of(model, Usage(input_tokens=tokens)) if model else Decimal(0)
    return CuttingEstimate(found["n"], tokens, cost)


def _kept_until(vault: Vault) -> datetime | None:
    if vault.model_switched is None:
        return None
    return vault.model_switched + timedelta(days=Upkeep.chosen().keep_vectors_days)
