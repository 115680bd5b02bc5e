"""Chunks that an embedding model could not embed, and why."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Case, CharField, F, Q, QuerySet, Value, When
from django.db.models.functions import Concat, Right

from providers.models import EmbeddingModel
from vault.models import Chunk
from vault.staleness import SPACE_LENGTH, fingerprint

# So many models are remembered to have refused a chunk; the oldest is forgotten, and tried
# again when it comes back.
MOST_SPACES = 5


def mark_failed(chunk_ids: Sequence[int], model: EmbeddingModel, reason: str) -> None:
    """This model cannot embed these chunks; the reason is shown with their notes."""
    space = fingerprint(model)
    added = Concat(F("embed_failed_by"), Value(f" {space}"), output_field=CharField())
    Chunk.objects.filter(pk__in=chunk_ids).update(
        embed_failed=reason.replace("\0", "")[:1000],
        embed_failed_by=Case(
            When(Q(embed_failed_by__contains=space), then=F("embed_failed_by")),
            default=Right(added, MOST_SPACES * (SPACE_LENGTH + 1)),
        ),
        embed_attempts=F("embed_attempts") + 1,
    )


def failed_chunks(vault_id: int) -> QuerySet[Chunk]:
    """Chunks of a vault that any model refused as they are now."""
    return Chunk.objects.filter(vault_id=vault_id).exclude(embed_failed="")


def retry_failed(vault_id: int) -> int:
    """Forget why chunks could not be embedded, so that they are tried again."""
    return failed_chunks(vault_id).update(embed_failed="", embed_failed_by="", embed_attempts=0)
