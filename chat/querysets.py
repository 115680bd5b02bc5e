"""Reads of the chat's tables, named as adjectives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

if TYPE_CHECKING:
    from chat.models import Conversation, Folder, PromptPreset, Run, ShareLink  # noqa: F401
    from vault.access import User


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def owned_by(self, user: User) -> ConversationQuerySet:
        """A conversation belongs to its owner alone; what was deleted is gone for them too."""
        return self.kept_or_deleted_by(user).filter(deleted=None)

    def kept_or_deleted_by(self, user: User) -> ConversationQuerySet:
        """As owned_by, with what can still be brought back."""
        return self.filter(owner_id=user.pk) if user.is_active else self.none()

    def listed(self) -> ConversationQuerySet:
        """What lists, searches and exports of everything show."""
        return self.filter(temporary=False, deleted=None)


class FolderQuerySet(models.QuerySet["Folder"]):
    def owned_by(self, user: User) -> FolderQuerySet:
        """A folder is its owner's alone."""
        return self.filter(owner_id=user.pk) if user.is_active else self.none()


class ShareLinkQuerySet(models.QuerySet["ShareLink"]):
    def owned_by(self, user: User) -> ShareLinkQuerySet:
        """What `user` shared, of conversations that still are."""
        mine = self.filter(owner_id=user.pk, conversation__deleted=None)
        return mine if user.is_active else self.none()

    def in_force(self) -> ShareLinkQuerySet:
        """Neither expired nor revoked, of a person and a conversation that still are there."""
        return self.filter(
            revoked=None,
            expires__gt=Now(),
            owner__is_active=True,
            conversation__deleted=None,
            conversation__temporary=False,
        )


class RunQuerySet(models.QuerySet["Run"]):
    def active(self) -> RunQuerySet:
        """Still being written, as far as its row says."""
        return self.filter(state="active")

    def abandoned(self) -> RunQuerySet:
        """Active, but the process that wrote it stopped renewing its lease."""
        return self.active().filter(lease_until__lt=Now())


class PromptPresetQuerySet(models.QuerySet["PromptPreset"]):
    def owned_by(self, user: User) -> PromptPresetQuerySet:
        """Those that `user` may change."""
        return self.filter(owner_id=user.pk) if user.is_active else self.none()

    def usable_by(self, user: User) -> PromptPresetQuerySet:
        """Everybody's, the user's own, and those of the user's groups."""
        if not user.is_active:
            return self.none()
        shared = Q(group__user=user.pk)
        return self.filter(Q(owner=None) | Q(owner_id=user.pk) | shared).distinct()
