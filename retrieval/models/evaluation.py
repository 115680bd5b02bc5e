"""Golden questions, and how well search answered them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import MD5
from django.utils.translation import gettext_lazy as _

from providers.models import EmbeddingModel
from retrieval.querysets import EvalRunQuerySet
from vault.models import Note, SizeTrial, Vault


class EvalQuestion(models.Model):
    """A question of a vault's team and the notes that should answer it."""

    class Origin(models.TextChoices):
        NOTE = "note", _("a note of the vault")
        THUMBS = "thumbs", _("an answer somebody liked")
        PAGE = "page", _("added on the page")

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE, related_name="eval_questions")
    text = models.TextField()
    expected = models.ManyToManyField(Note, related_name="+")
    question_class = models.CharField(max_length=200, blank=True)
    language = models.CharField(max_length=10, blank=True)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.PAGE)
    place = models.TextField(blank=True, help_text=_("path of the note that it stands in"))
    line = models.PositiveIntegerField(default=0, help_text=_("line of that file, from 1"))
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["question_class", "pk"]
        constraints = [
            models.UniqueConstraint("vault", MD5("text"), name="evalquestion_once_in_vault")
        ]

    def __str__(self) -> str:
        return self.text


class EvalRun(models.Model):
    """Golden questions asked under one set of knobs, and what was found.

    `pending` holds the ids of the questions that are still to be asked, `results` one row a
    question asked. `index` says what the questions were asked of: model, sizes, counts.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("waiting for the worker")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        CANCELLED = "cancelled", _("cancelled")
        FAILED = "failed", _("failed")

    OPEN = (State.QUEUED, State.RUNNING)

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE, related_name="eval_runs")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    label = models.CharField(max_length=100, blank=True)
    trial_model = models.ForeignKey(
        EmbeddingModel,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="+",
        help_text=_("Asked in place of the model that serves, before it may."),
    )
    against = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text=_("The run that it is measured by."),
    )
    size_trial = models.ForeignKey(
        SizeTrial,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="runs",
        help_text=_("Other sizes of passages that it is a part of the trial of."),
    )
    asked_vault = models.ForeignKey(
        Vault,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text=_("Copies of notes that are asked in place of the vault, while they last."),
    )
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    knobs = models.JSONField(default=dict)
    index = models.JSONField(default=dict)
    pending = models.JSONField(default=list)
    results = models.JSONField(default=list)
    metrics = models.JSONField(default=dict)
    total = models.PositiveIntegerField(default=0)
    error = models.TextField(blank=True)
    created = models.DateTimeField(auto_now_add=True)
    finished = models.DateTimeField(null=True, blank=True)

    objects = EvalRunQuerySet.as_manager()

    class Meta:
        ordering = ["-created", "-pk"]
        indexes = [models.Index(fields=["vault", "-created"], name="evalrun_newest_of_vault")]

    def __str__(self) -> str:
        return f"{self.state}, {self.created:%Y-%m-%d %H:%M}"

    @property
    def done(self) -> int:
        """Questions asked so far."""
        return self.total - len(self.pending)

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN

    @property
    def is_trial(self) -> bool:
        """Whether something else was asked than what serves."""
        return self.trial_model_id is not None or self.size_trial_id is not None
