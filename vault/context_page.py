"""What an owner sees of the context lines of a vault, and may choose."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet

from providers.models import ChatModel
from providers.registry import available_chat_models
from vault.enrichment import due_chunks, enrich_settings, failed_notes
from vault.models import Chunk, ContextFailure, Enrichment, Vault
from vault.status import CurrentJob, current_jobs

MOST_FAILURES = 50


@dataclass(frozen=True, slots=True)
class ContextPage:
    """Whether lines are on, for how many passages they are written, and what failed.

    `is_stuck`: they are on and their model is gone. `clearing`: chunks that still have a
    line although they are off.
    """

    settings: Enrichment
    choices: tuple[ChatModel, ...]
    passages: int
    written: int
    failed: int
    failures: tuple[ContextFailure, ...]
    clearing: int
    job: CurrentJob | None

    @property
    def is_stuck(self) -> bool:
        return self.settings.contextualize and self.settings.context_model is None

    @property
    def percent(self) -> int:
        return self.written * 100 // self.passages if self.passages else 100

    @property
    def is_moving(self) -> bool:
        """Whether looking again in a moment shows something else."""
        return self.job is not None


def context_page(vault: Vault) -> ContextPage:
    """Everything the page shows of a vault's context lines."""
    row = Enrichment.objects.select_related("context_model").filter(vault=vault).first()
    settings = enrich_settings(vault.pk)
    chunks = Chunk.objects.filter(vault=vault).exclude(content="")
    passages = chunks.count()
    failures: QuerySet[ContextFailure] = ContextFailure.objects.none()
    if settings is not None:
        failures = failed_notes(settings).select_related("note").order_by("note__path")
    jobs = [job for job in current_jobs(vault) if job.kind == "enrich"]
    is_on = row is not None and row.contextualize
    return ContextPage(
        settings=row or Enrichment(vault=vault),
        choices=tuple(model_choices()),
        passages=passages,
        written=passages - due_chunks(settings).count() if settings else 0,
        failed=failures.count(),
        failures=tuple(failures[:MOST_FAILURES]),
        clearing=0 if is_on else chunks.exclude(context_made="").count(),
        job=next(iter(jobs), None),
    )


def model_choices() -> list[ChatModel]:
    """Models that can write lines: quoting alone cannot."""
    return [model for model in available_chat_models() if model.provider.kind != "extractive"]
