"""What readers say of answers, and the questions their notes had no answer to."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import MD5
from django.utils.translation import gettext_lazy as _

from chat.models.conversations import Message
from vault.models import Vault


class Feedback(models.Model):
    """A thumb up or down on an answer, by the one who asked."""

    class Reason(models.TextChoices):
        WRONG = "wrong", _("It is wrong")
        NOT_FOUND = "not_found", _("The notes say it, but it was not found")
        INCOMPLETE = "incomplete", _("Something is missing")
        SOURCES = "sources", _("The sources do not say that")
        OUTDATED = "outdated", _("It is out of date")
        OTHER = "other", _("Something else")

    message = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="feedback")
    is_helpful = models.BooleanField()
    reason = models.CharField(max_length=12, choices=Reason, blank=True)
    comment = models.TextField(max_length=2_000, blank=True)
    shares_question = models.BooleanField(
        default=False, help_text=_("Admins may see the question; never the answer.")
    )
    created = models.DateTimeField(auto_now_add=True)
    updated = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-updated"]
        verbose_name_plural = _("feedback")

    def __str__(self) -> str:
        return str(_("helpful") if self.is_helpful else _("not helpful"))


class UnansweredQuestion(models.Model):
    """A question that the notes of a vault had no answer to, until somebody writes it.

    Who asked is not kept: the vault's editors see what is missing, not who missed it.
    """

    class State(models.TextChoices):
        OPEN = "open", _("open")
        ANSWERED = "answered", _("answered")
        CLOSED = "closed", _("closed")

    class Cause(models.TextChoices):
        NOTHING_FOUND = "nothing_found", _("nothing found")
        NOT_CITED = "not_cited", _("passages read, none of use")
        READER = "reader", _("a reader says it was not found")

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE, related_name="unanswered")
    question = models.TextField()
    cause = models.CharField(max_length=14, choices=Cause)
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    asked = models.PositiveIntegerField(default=1, help_text=_("How often."))
    nearest = models.JSONField(default=list, help_text=_("Numbers of the nearest notes."))
    answered_by = models.JSONField(default=list, help_text=_("Numbers of the notes that do."))
    created = models.DateTimeField(auto_now_add=True)
    last_asked = models.DateTimeField()
    checked = models.DateTimeField(null=True, blank=True)
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )

    class Meta:
        ordering = ["-last_asked"]
        constraints = [
            # A question may be longer than a b-tree entry: its hash is what is unique.
            models.UniqueConstraint("vault", MD5("question"), name="unanswered_once_in_vault"),
        ]
        indexes = [
            models.Index(fields=["vault"], condition=Q(state="open"), name="unanswered_open")
        ]

    def __str__(self) -> str:
        return f"{self.pk}: {self.get_state_display()}"
