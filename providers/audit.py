"""What changes of the configuration are written down, by whom."""

from __future__ import annotations

from auditlog.registry import auditlog

from providers.models import ChatModel, EmbeddingModel, Provider, RerankModel


def register_models() -> None:
    """Log every change of a provider or a model; of a key only its last four characters."""
    auditlog.register(
        Provider, mask_fields=["key"], mask_callable="providers.core.redaction.last_four"
    )
    for model in (ChatModel, EmbeddingModel, RerankModel):
        auditlog.register(model)
