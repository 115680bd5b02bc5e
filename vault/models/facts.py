"""What programs distilled from notes, one sentence each, with where it comes from."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from vault.models.notes import Note
from vault.models.vaults import Vault


class Fact(models.Model):
    """A sentence that somebody's program keeps beside a vault. Search does not read it."""

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE)
    note = models.ForeignKey(
        Note,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="facts",
        help_text=_("The note it is about; empty: the vault as a whole."),
    )
    text = models.TextField()
    origin = models.TextField(help_text=_("Where it comes from, as its writer says."))
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.text[:80]
