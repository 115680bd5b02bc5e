"""Settings of search, and the record of each retrieval."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from providers.models import RerankModel


class RetrievalSettings(models.Model):
    """The site's search settings: one row."""

    class FusionKind(models.TextChoices):
        CONVEX = "convex", _("convex: scores of both arms, half and half")
        RRF = "rrf", _("reciprocal rank")

    fusion = models.CharField(max_length=10, choices=FusionKind, default=FusionKind.CONVEX)
    passages = models.PositiveSmallIntegerField(
        default=8,
        validators=[MinValueValidator(1), MaxValueValidator(30)],
        help_text=_("passages in an answer's prompt"),
    )
    depth = models.PositiveSmallIntegerField(
        default=50,
        validators=[MinValueValidator(10), MaxValueValidator(500)],
        help_text=_("candidates of each arm"),
    )
    overfetch = models.PositiveSmallIntegerField(
        _("over-fetch"),
        default=3,
        validators=[MinValueValidator(1), MaxValueValidator(20)],
        help_text=_("candidates for each note wanted, where that is more: notes have several"),
    )
    rrf_k = models.PositiveSmallIntegerField(
        _("RRF k"),
        default=60,
        validators=[MinValueValidator(1), MaxValueValidator(1000)],
        help_text=_("only for reciprocal rank"),
    )
    chunks_per_note = models.PositiveSmallIntegerField(
        default=3,
        validators=[MinValueValidator(1), MaxValueValidator(20)],
        help_text=_("so that one long note does not fill the answer"),
    )
    token_budget = models.PositiveIntegerField(
        default=3000,
        validators=[MinValueValidator(200), MaxValueValidator(200_000)],
        help_text=_("tokens of all passages of an answer"),
    )
    neighbours = models.PositiveSmallIntegerField(
        default=1,
        validators=[MaxValueValidator(5)],
        help_text=_("chunks before and after a hit that come along while the budget lasts"),
    )
    linked_notes = models.BooleanField(
        default=False,
        help_text=_("notes that a passage links to come along last, while the budget lasts"),
    )
    alternates = models.BooleanField(
        default=True, help_text=_("let the model add up to two other wordings of a broad question")
    )
    code_path = models.BooleanField(
        default=True,
        help_text=_("look for source code by itself, where a question may be about it"),
    )
    note_vectors = models.BooleanField(
        default=True,
        help_text=_("let whole notes that are near bring passages which a large index misses"),
    )
    rerank_model = models.ForeignKey(
        RerankModel,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        help_text=_(
            "Orders the best candidates again, as half of their score, for everybody. Empty: "
            "only for those who switch it on in their chat settings."
        ),
    )

    class Meta:
        verbose_name_plural = _("retrieval settings")
        constraints = [
            models.CheckConstraint(condition=models.Q(pk=1), name="retrievalsettings_one_row")
        ]

    def __str__(self) -> str:
        return str(_("Retrieval settings"))


class RetrievalRun(models.Model):
    """One retrieval: "how this was found"."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    question = models.TextField()
    queries = models.JSONField(default=list)
    vaults = models.JSONField(default=list, help_text=_("slugs"))
    mode = models.CharField(max_length=10)
    knobs = models.JSONField(default=dict)
    arms = models.JSONField(default=list)
    candidates = models.JSONField(default=list)
    timings = models.JSONField(default=dict)
    notices = models.JSONField(default=list)
    passages = models.PositiveSmallIntegerField(default=0)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return f"{self.mode}, {self.created:%Y-%m-%d %H:%M}"
