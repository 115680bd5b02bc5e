"""Other sizes of passages, tried before they are saved."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from providers.models import EmbeddingModel
from vault.core.passage_sizes import PassageSizes
from vault.models.vaults import Vault


class SizeTrial(models.Model):
    """A vault's golden questions asked of copies of its notes, cut in two ways.

    `before_vault` holds the copies cut as the vault is, `after_vault` those cut by the sizes
    that are tried; nobody is a member of either, and both go when the trial is over. What is
    to be done follows from `stage` and the columns after it, so that a trial whose worker is
    killed goes on. `report`: figures of both, and how many questions moved.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("waiting for the worker")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        CANCELLED = "cancelled", _("stopped")
        FAILED = "failed", _("failed")

    class Stage(models.TextChoices):
        CHOOSE = "choose", _("choosing notes")
        COPY = "copy", _("cutting copies of the notes")
        EMBED = "embed", _("embedding the passages")
        ASK = "ask", _("asking the golden questions")

    OPEN = (State.QUEUED, State.RUNNING)

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE, related_name="size_trials")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    before_tokens = models.PositiveSmallIntegerField()
    before_overlap = models.PositiveSmallIntegerField()
    before_minimum = models.PositiveSmallIntegerField()
    after_tokens = models.PositiveSmallIntegerField()
    after_overlap = models.PositiveSmallIntegerField()
    after_minimum = models.PositiveSmallIntegerField()
    embedding_model = models.ForeignKey(
        EmbeddingModel, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    space = models.CharField(
        max_length=16, blank=True, help_text=_("Of the embedding model when it was begun.")
    )
    before_vault = models.ForeignKey(
        Vault, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    after_vault = models.ForeignKey(
        Vault, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    stage = models.CharField(max_length=10, choices=Stage, default=Stage.CHOOSE)
    done = models.PositiveIntegerField(default=0, help_text=_("of `total`, in this stage"))
    total = models.PositiveIntegerField(default=0)
    questions = models.JSONField(default=list, help_text=_("ids"))
    ranked = models.JSONField(
        default=dict, help_text=_("Ids of the notes that search found, by question id.")
    )
    pool = models.JSONField(default=list, help_text=_("Ids of the notes that are copied."))
    notes = models.PositiveIntegerField(default=0, help_text=_("notes of the vault"))
    spent = models.JSONField(default=dict, help_text=_("Tokens and USD for new vectors."))
    report = models.JSONField(default=dict)
    trouble = models.TextField(blank=True, help_text=_("Why it waits and tries again."))
    error = models.TextField(blank=True)
    created = models.DateTimeField(auto_now_add=True)
    finished = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["vault"],
                condition=Q(state__in=["queued", "running"]),
                name="sizetrial_one_open_in_vault",
            )
        ]

    def __str__(self) -> str:
        return f"{self.after_tokens}, {self.state}"

    @property
    def before(self) -> PassageSizes:
        return PassageSizes(self.before_tokens, self.before_overlap, self.before_minimum)

    @property
    def after(self) -> PassageSizes:
        return PassageSizes(self.after_tokens, self.after_overlap, self.after_minimum)

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN
