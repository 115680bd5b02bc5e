"""Who changed vaults and their members: kept by auditlog."""

from __future__ import annotations

from auditlog.registry import auditlog

from vault.models import Enrichment, Upkeep, Vault, VaultMember

auditlog.register(Vault, exclude_fields=["state", "pause_reason", "loss_allowed"])
auditlog.register(VaultMember)
auditlog.register(Enrichment, exclude_fields=["calls", "input_tokens", "output_tokens", "cost"])
auditlog.register(Upkeep, exclude_fields=["checked"])
