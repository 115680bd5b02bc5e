"""App configuration."""

from __future__ import annotations

from django.apps import AppConfig


class ProvidersConfig(AppConfig):
    name = "providers"
    verbose_name = "Models and providers"

    def ready(self) -> None:
        from providers import audit, checks

        audit.register_models()
        checks.register_checks()
