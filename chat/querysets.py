"""Reads of the chat's tables, named as adjectives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models.functions import Now

if TYPE_CHECKING:
    from chat.models import Conversation, Run  # noqa: F401
    from vault.access import User


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def owned_by(self, user: User) -> ConversationQuerySet:
        """A conversation belongs to its owner alone."""
        return self.filter(owner_id=user.pk) if user.is_active else self.none()


class RunQuerySet(models.QuerySet["Run"]):
    def active(self) -> RunQuerySet:
        """Still being written, as far as its row says."""
        return self.filter(state="active")

    def abandoned(self) -> RunQuerySet:
        """Active, but the process that wrote it stopped renewing its lease."""
        return self.active().filter(lease_until__lt=Now())
