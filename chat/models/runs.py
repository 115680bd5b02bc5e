"""Answers being written, and what was said of them so far."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from chat.models.conversations import Conversation, Message
from chat.querysets import RunQuerySet


class Run(models.Model):
    """An answer being written: owned by one process for as long as its lease lasts."""

    class State(models.TextChoices):
        ACTIVE = "active", _("active")
        ENDED = "ended", _("ended")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="runs")
    message = models.OneToOneField(Message, on_delete=models.CASCADE, related_name="run")
    state = models.CharField(max_length=10, choices=State, default=State.ACTIVE)
    owner_process = models.CharField(max_length=100)
    lease_until = models.DateTimeField()
    stop_wanted = models.BooleanField(default=False)
    created = models.DateTimeField(auto_now_add=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["conversation"],
                condition=Q(state="active"),
                name="run_one_active_in_conversation",
            )
        ]

    def __str__(self) -> str:
        return str(self.id)


class RunEvent(models.Model):
    """What was said in about a second of a run: appended, never rewritten.

    `events` holds the events numbered `first` to `last`, each with its seq, type and data.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    first = models.PositiveIntegerField()
    last = models.PositiveIntegerField()
    events = models.JSONField(default=list)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["first"]
        constraints = [models.UniqueConstraint(fields=["run", "first"], name="runevent_first_once")]

    def __str__(self) -> str:
        return f"{self.first} to {self.last}"
