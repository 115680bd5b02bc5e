"""App configuration."""

from __future__ import annotations

import sys

from django.apps import AppConfig
from django.conf import settings


class VaultConfig(AppConfig):
    name = "vault"
    verbose_name = "Vaults"

    def ready(self) -> None:
        from vault import checks, history  # noqa: F401 (registers)
        from vault.process_groups import chain_forks

        if settings.PROCESS_ROLE == "worker" and sys.argv[1:2] == ["qcluster"]:
            chain_forks()
