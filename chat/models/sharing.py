"""Links by which others read a conversation, as far as they may read what it rests on."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.utils.translation import gettext_lazy as _

from chat.models.conversations import Conversation, Message
from chat.querysets import ShareLinkQuerySet


class ShareLink(models.Model):
    """A conversation up to `message`, or that answer alone, for others to read.

    It shows nothing by itself: every reader sees only what rests on vaults they may read.
    """

    class Audience(models.TextChoices):
        SIGNED_IN = "signed_in", _("everybody who can sign in")
        NAMED = "named", _("people and groups I name")
        READERS = "readers", _("those who may read every vault it was written from")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    token_hash = models.CharField(max_length=64, unique=True, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="shares")
    message = models.ForeignKey(
        Message, on_delete=models.CASCADE, help_text=_("The last message that is shown.")
    )
    only_answer = models.BooleanField(
        default=False, help_text=_("That answer and its question, without what came before.")
    )
    audience = models.CharField(max_length=10, choices=Audience, default=Audience.SIGNED_IN)
    users = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="+")
    groups = models.ManyToManyField(Group, blank=True, related_name="+")
    created = models.DateTimeField(auto_now_add=True)
    expires = models.DateTimeField()
    revoked = models.DateTimeField(default=None, null=True)

    objects = ShareLinkQuerySet.as_manager()

    class Meta:
        ordering = ["-created"]
        indexes = [models.Index(fields=["owner", "-created"])]

    def __str__(self) -> str:
        return str(self.id)
