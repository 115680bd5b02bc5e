"""The files in which a vault carries settings of its own."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from vault.models.vaults import Vault


class SettingsFile(models.Model):
    """`secondbrain.json`, or a file of `.claude/agents`: no note, read on every sync.

    `text` is what holds, scrubbed: of a file that cannot be read now, what was read before.
    """

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE, related_name="settings_files")
    path = models.CharField(max_length=300, help_text=_("Relative to the vault."))
    text = models.TextField(blank=True)
    content_hash = models.CharField(max_length=64, blank=True, help_text=_("SHA-256 of the file."))
    problems = models.JSONField(
        default=list, blank=True, help_text=_("What is wrong with it: reason, mend and line.")
    )
    updated = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["path"]
        constraints = [
            models.UniqueConstraint(fields=["vault", "path"], name="settingsfile_once_in_vault")
        ]

    def __str__(self) -> str:
        return self.path
