"""Conversations, the answers being written in them, and what they were written from."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from chat.querysets import ConversationQuerySet, RunQuerySet
from providers.models import ChatModel
from retrieval.models import RetrievalRun
from vault.models import Chunk, Note, Vault


class AnswerMode(models.TextChoices):
    NOTES_ONLY = "notes_only", _("notes only")
    NOTES_FIRST = "notes_first", _("notes first")
    NO_NOTES = "no_notes", _("no notes")


class Persona(models.Model):
    """Text that an admin adds to the system prompt under a name."""

    name = models.CharField(max_length=100)
    role = models.CharField(max_length=200, blank=True)
    prompt = models.TextField(help_text=_("Follows the base prompt."))
    enabled = models.BooleanField(default=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return f"{self.name}, {self.role}" if self.role else self.name


class ChatSettings(models.Model):
    """Defaults of the site (no user) and what a user chose instead. Empty: not chosen."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE
    )
    model = models.ForeignKey(ChatModel, null=True, blank=True, on_delete=models.SET_NULL)
    persona = models.ForeignKey(Persona, null=True, blank=True, on_delete=models.SET_NULL)
    system_prompt = models.TextField(blank=True)
    mode = models.CharField(max_length=12, choices=AnswerMode, blank=True)
    passages = models.PositiveSmallIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1), MaxValueValidator(30)]
    )
    alternates = models.BooleanField(null=True, blank=True)
    rerank = models.BooleanField(null=True, blank=True)

    class Meta:
        verbose_name_plural = _("chat settings")
        constraints = [
            models.UniqueConstraint(
                models.Value(1), condition=Q(user__isnull=True), name="chatsettings_one_site_row"
            )
        ]

    def __str__(self) -> str:
        return str(self.user or _("site"))


class Conversation(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    title = models.CharField(max_length=200, blank=True)
    title_is_final = models.BooleanField(
        default=False, help_text=_("Renamed by its owner: never overwritten.")
    )
    vaults = models.JSONField(
        default=None, null=True, blank=True, help_text=_("slugs; null: all readable vaults")
    )
    created = models.DateTimeField(auto_now_add=True)
    updated = models.DateTimeField(auto_now=True)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        ordering = ["-updated"]
        indexes = [models.Index(fields=["owner", "-updated"])]

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
    model_label = models.CharField(max_length=200, blank=True)
    persona_name = models.CharField(max_length=300, blank=True)
    error_code = models.CharField(max_length=60, blank=True)
    error = models.TextField(blank=True, help_text=_("The sentence the reader saw."))
    error_mend = models.TextField(blank=True, help_text=_("What the reader could do about it."))
    cut_short = models.BooleanField(default=False, help_text=_("Ended at the length limit."))
    usage = models.JSONField(default=dict)
    citations = models.JSONField(default=list)
    told = models.JSONField(
        default=list, help_text=_("Earlier answers the model was told: this one may repeat them.")
    )
    notices = models.JSONField(
        default=list, help_text=_("What the reader was told: skipped arms, left out turns.")
    )
    retrieval_run = models.ForeignKey(
        RetrievalRun, null=True, blank=True, on_delete=models.SET_NULL
    )
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        # Two messages of one turn may bear the same clock reading: the question is first.
        ordering = ["created", "-role"]
        indexes = [models.Index(fields=["conversation", "created"])]

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
    text = models.TextField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    note_hash = models.CharField(max_length=64, blank=True)
    arms = models.JSONField(default=list)
    note_updated = models.DateTimeField(null=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["message", "number"], name="source_number_once")
        ]

    def __str__(self) -> str:
        return f"[{self.number}] {self.path}"


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
