"""Conversations, their messages, and the passages these were written from."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector
from django.db import models
from django.db.models import Q
from django.db.models.functions import Left, Lower
from django.utils.translation import gettext_lazy as _

from chat.models.choices import AnswerMode, ToolUse
from chat.querysets import ConversationQuerySet, FolderQuerySet
from retrieval.models import RetrievalRun
from vault.models import Chunk, Note, Vault

# Characters of a message that its words are indexed of: PostgreSQL refuses a megabyte of them.
LONGEST_SEARCHED = 200_000


class Folder(models.Model):
    """A place for conversations of one person. Deleting it keeps them."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    name = models.CharField(max_length=80)
    created = models.DateTimeField(auto_now_add=True)

    objects = FolderQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint("owner", Lower("name"), name="folder_name_once_an_owner")
        ]

    def __str__(self) -> str:
        return self.name


class Conversation(models.Model):
    """Messages of one person, as a tree: an edit or a new version of an answer branches."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    title = models.CharField(max_length=200, blank=True)
    title_is_final = models.BooleanField(
        default=False, help_text=_("Renamed by its owner: never overwritten.")
    )
    vaults = models.JSONField(
        default=None, null=True, blank=True, help_text=_("slugs; null: all readable vaults")
    )
    leaf = models.UUIDField(
        default=None, null=True, help_text=_("A message of the branch that is shown; null: newest.")
    )
    folder = models.ForeignKey(
        Folder, null=True, blank=True, on_delete=models.SET_NULL, db_index=False
    )
    pinned = models.BooleanField(default=False)
    archived = models.BooleanField(default=False)
    temporary = models.BooleanField(
        default=False, help_text=_("In no list and no search; deleted a day after its last use.")
    )
    left = models.DateTimeField(
        default=None,
        null=True,
        help_text=_("When a tab that showed a temporary one was closed; null: one is open again."),
    )
    deleted = models.DateTimeField(
        default=None, null=True, help_text=_("Can be brought back for a while from then on.")
    )
    origin = models.UUIDField(
        default=None, null=True, help_text=_("Its id in the file that it was imported from.")
    )
    created = models.DateTimeField(auto_now_add=True)
    updated = models.DateTimeField(auto_now=True)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        ordering = ["-updated"]
        indexes = [
            models.Index(fields=["owner", "-updated"]),
            models.Index(
                fields=["folder"],
                name="chat_conversation_folder",
                condition=Q(folder__isnull=False),
            ),
            models.Index(
                fields=["updated"],
                name="chat_conversation_to_delete",
                condition=Q(temporary=True) | Q(deleted__isnull=False),
            ),
            models.Index(
                fields=["owner", "origin"],
                name="chat_conversation_origin",
                condition=Q(origin__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.title or str(_("New question"))


class Message(models.Model):
    """One side of a turn. `parent` is the message it answers or follows."""

    class Role(models.TextChoices):
        USER = "user", _("user")
        ASSISTANT = "assistant", _("assistant")

    class Status(models.TextChoices):
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        STOPPED = "stopped", _("stopped")
        INTERRUPTED = "interrupted", _("interrupted")
        FAILED = "failed", _("failed")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="messages"
    )
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE)
    role = models.CharField(max_length=10, choices=Role)
    text = models.TextField(blank=True)
    status = models.CharField(max_length=12, choices=Status, default=Status.DONE)
    mode = models.CharField(max_length=12, choices=AnswerMode, default=AnswerMode.NOTES_FIRST)
    tool_use = models.CharField(max_length=5, choices=ToolUse, default=ToolUse.NEVER)
    model_label = models.CharField(max_length=200, blank=True)
    persona_name = models.CharField(max_length=300, blank=True)
    error_code = models.CharField(max_length=60, blank=True)
    error = models.TextField(blank=True, help_text=_("The sentence the reader saw."))
    error_mend = models.TextField(blank=True, help_text=_("What the reader could do about it."))
    cut_short = models.BooleanField(default=False, help_text=_("Ended at the length limit."))
    sources_added = models.BooleanField(
        default=False,
        help_text=_("The model cited nothing; its sentences were matched afterwards."),
    )
    usage = models.JSONField(default=dict)
    nearest = models.JSONField(
        default=list, help_text=_("Numbers of the nearest notes, where none held an answer.")
    )
    calls = models.JSONField(default=list, help_text=_("The calls to models it took."))
    citations = models.JSONField(default=list)
    told = models.JSONField(
        default=list, help_text=_("Earlier answers the model was told: this one may repeat them.")
    )
    notices = models.JSONField(
        default=list, help_text=_("What the reader was told: skipped arms, left out turns.")
    )
    follow_ups = models.JSONField(
        default=None, null=True, help_text=_("What the model offered to ask next; null: not asked.")
    )
    retrieval_run = models.ForeignKey(
        RetrievalRun, null=True, blank=True, on_delete=models.SET_NULL
    )
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        # Two messages of one turn may bear the same clock reading: the question is first.
        ordering = ["created", "-role"]
        indexes = [
            models.Index(fields=["conversation", "created"]),
            GinIndex(
                SearchVector(Left("text", LONGEST_SEARCHED), config="simple"),
                name="chat_message_words",
            ),
        ]

    def __str__(self) -> str:
        return self.text[:80]


class Source(models.Model):
    """A numbered passage an answer was written from, as its text was then."""

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="sources")
    number = models.PositiveSmallIntegerField()
    vault = models.ForeignKey(Vault, null=True, on_delete=models.SET_NULL)
    note = models.ForeignKey(Note, null=True, on_delete=models.SET_NULL)
    chunk = models.ForeignKey(Chunk, null=True, on_delete=models.SET_NULL)
    path = models.TextField()
    title = models.TextField()
    heading_path = models.JSONField(default=list)
    outline = models.JSONField(
        default=list, help_text=_("Where which heading path begins within the passage.")
    )
    text = models.TextField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    note_hash = models.CharField(max_length=64, blank=True)
    arms = models.JSONField(default=list)
    note_updated = models.DateTimeField(null=True)
    note_day = models.DateField(null=True, help_text=_("The day the note is of."))
    standing = models.JSONField(
        default=dict, help_text=_("What the note said of how far it holds.")
    )
    also_in = models.JSONField(default=list, help_text=_("Notes that said the same, left out."))

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["message", "number"], name="source_number_once")
        ]

    def __str__(self) -> str:
        return f"[{self.number}] {self.path}"
