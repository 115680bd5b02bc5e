"""App configuration."""

from __future__ import annotations

from django.apps import AppConfig


class VaultConfig(AppConfig):
    name = "vault"
    verbose_name = "Vaults"
