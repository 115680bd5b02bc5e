"""App configuration."""

from __future__ import annotations

from django.apps import AppConfig


class ChatConfig(AppConfig):
    name = "chat"
    verbose_name = "Chat"

    def ready(self) -> None:
        """A vault's personas follow its files with each sync."""
        from chat.personas import take_over
        from vault.settings_files import settings_read

        settings_read.connect(take_over, dispatch_uid="personas")
