"""What changes of the configuration are written down, by whom."""

from __future__ import annotations

from auditlog.registry import auditlog

from providers.models import ChatModel, EmbeddingModel, Provider, RerankModel, UsageLimit


def register_models() -> None:
    """Log every change of a provider, a model or a limit; of a key its last four characters."""
    auditlog.register(
        Provider, mask_fields=["key"], mask_callable="providers.core.redaction.last_four"
    )
    for model in (ChatModel, EmbeddingModel, RerankModel, UsageLimit):
        auditlog.register(model)
