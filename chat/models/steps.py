"""What a model did on its way to an answer."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models.conversations import Message
from retrieval.models import RetrievalRun


class Step(models.Model):
    """A call of a tool by the model: what it wanted, whether it might, what came of it."""

    class State(models.TextChoices):
        ASKED = "asked", _("waits for you")
        RUNNING = "running", _("searching")
        DONE = "done", _("done")
        REFUSED = "refused", _("refused")
        FAILED = "failed", _("failed")
        INTERRUPTED = "interrupted", _("interrupted")

    class Decision(models.TextChoices):
        ALLOW = "allow", _("Allow")
        ALLOW_ALL = "allow_all", _("Allow all in this answer")
        REFUSE = "refuse", _("Refuse")
        TIME_OUT = "time_out", _("nobody answered")

    OPEN = (State.ASKED, State.RUNNING)

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="steps")
    number = models.PositiveSmallIntegerField()
    tool = models.CharField(max_length=60)
    what = models.TextField(blank=True, help_text=_("What is looked for, in one line."))
    why = models.TextField(blank=True, help_text=_("What the model says it is missing."))
    state = models.CharField(max_length=12, choices=State, default=State.RUNNING)
    decision = models.CharField(max_length=10, choices=Decision, blank=True)
    said = models.TextField(blank=True, help_text=_("Why it failed or was refused."))
    found = models.JSONField(default=list, help_text=_("Numbers of the passages it gave."))
    milliseconds = models.PositiveIntegerField(default=0)
    retrieval_run = models.ForeignKey(
        RetrievalRun, null=True, blank=True, on_delete=models.SET_NULL
    )
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["message", "number"], name="step_number_once")
        ]

    def __str__(self) -> str:
        return f"{self.tool}: {self.what}"
