"""Who changed vaults and their members: kept by auditlog."""

from __future__ import annotations

from auditlog.registry import auditlog

from vault.models import Vault, VaultMember

auditlog.register(Vault, exclude_fields=["state", "pause_reason", "loss_allowed"])
auditlog.register(VaultMember)
