"""Context lines: whether a vault has them, and of which notes they could not be written."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from providers.models import ChatModel
from vault.models.notes import Note
from vault.models.vaults import Vault


class Enrichment(models.Model):
    """Settings of a vault, and what was spent on it. No row: off."""

    vault = models.OneToOneField(Vault, on_delete=models.CASCADE, related_name="enrichment")
    contextualize = models.BooleanField(
        _("context lines"),
        default=False,
        help_text=_("A model writes one line a passage that says where it stands in its note."),
    )
    summarize = models.BooleanField(
        _("summaries"),
        default=False,
        help_text=_("The same call also writes what the passage says, for lists of results."),
    )
    context_model = models.ForeignKey(
        ChatModel, null=True, blank=True, on_delete=models.SET_NULL, verbose_name=_("model")
    )
    switched_on_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        help_text=_("The calls count as this person's use."),
    )
    calls = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    cost = models.DecimalField(max_digits=12, decimal_places=6, default=0, help_text=_("USD"))

    class Meta:
        verbose_name = verbose_name_plural = _("context lines")

    def __str__(self) -> str:
        return str(_("on")) if self.contextualize else str(_("off"))


class ContextFailure(models.Model):
    """A note some of whose passages have no context line, although a model was asked."""

    note = models.OneToOneField(Note, on_delete=models.CASCADE, related_name="context_failure")
    content_hash = models.CharField(
        max_length=64, help_text=_("Of the note when it was tried: another text is tried anew.")
    )
    made_under = models.CharField(max_length=16, help_text=_("Settings when it was tried."))
    reason = models.TextField()
    attempts = models.PositiveSmallIntegerField(default=0)
    retry_after = models.DateTimeField()

    def __str__(self) -> str:
        return self.reason
