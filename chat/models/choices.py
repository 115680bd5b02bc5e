"""What a reader chooses: mode, persona and the settings of site and user."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from chat.core.tool_use import MOST_STEPS
from providers.models import ChatModel
from vault.models import SettingsFile, Vault


class AnswerMode(models.TextChoices):
    NOTES_ONLY = "notes_only", _("notes only")
    NOTES_FIRST = "notes_first", _("notes first")
    NO_NOTES = "no_notes", _("no notes")


class FollowUps(models.TextChoices):
    OFF = "off", _("off")
    NOTES = "notes", _("from the notes that were read")
    MODEL = "model", _("by the model, in one small call")


class ToolUse(models.TextChoices):
    NEVER = "never", _("one search")
    ASK = "ask", _("more searches, ask me")
    AUTO = "auto", _("more searches, freely")


class Persona(models.Model):
    """Text that is added to the system prompt under a name.

    An admin's row, or a file of `.claude/agents` in a vault, for readers of that vault.
    """

    name = models.CharField(max_length=100)
    role = models.CharField(max_length=200, blank=True)
    prompt = models.TextField(help_text=_("Follows the base prompt."))
    enabled = models.BooleanField(default=True)
    model = models.ForeignKey(
        ChatModel,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        help_text=_("Answers unless the question chose another."),
    )
    vaults = models.ManyToManyField(
        Vault,
        blank=True,
        help_text=_(
            "What is searched unless the question chose; of these, what the asker may read."
        ),
    )
    tools = models.JSONField(
        default=None,
        null=True,
        blank=True,
        help_text=_("Names of the tools it may use, as a list. Empty: all that are allowed."),
    )
    tool_use = models.CharField(
        max_length=5,
        choices=ToolUse,
        blank=True,
        help_text=_("Further searches under this persona go no further than this."),
    )
    settings_file = models.OneToOneField(
        SettingsFile, null=True, blank=True, editable=False, on_delete=models.CASCADE
    )
    content_hash = models.CharField(max_length=64, blank=True, editable=False)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return f"{self.name}, {self.role}" if self.role else self.name

    @property
    def place(self) -> str:
        """The vault whose file it is, or "" for one of the site."""
        return self.settings_file.vault.name if self.settings_file else ""


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
    adds_sources = models.BooleanField(
        null=True,
        blank=True,
        help_text=_("Sentences of an answer that cites nothing are matched with the passages."),
    )
    follow_ups = models.CharField(
        max_length=6,
        choices=FollowUps,
        blank=True,
        help_text=_("Questions that are offered after an answer."),
    )
    tool_use = models.CharField(
        max_length=5,
        choices=ToolUse,
        blank=True,
        help_text=_("Whether a model that can may search again before it answers."),
    )
    tool_limit = models.CharField(
        max_length=5,
        choices=ToolUse,
        blank=True,
        help_text=_("Of the site: nobody's choice of further searches goes further than this."),
    )
    tool_steps = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_STEPS)],
        help_text=_("Further searches for one answer at most."),
    )
    shares_unanswered = models.BooleanField(
        null=True,
        blank=True,
        help_text=_(
            "Questions without an answer in the notes are listed, without a name, for those "
            "who may edit the vaults that were searched."
        ),
    )

    class Meta:
        verbose_name_plural = _("chat settings")
        constraints = [
            models.UniqueConstraint(
                models.Value(1), condition=Q(user__isnull=True), name="chatsettings_one_site_row"
            )
        ]

    def __str__(self) -> str:
        return str(self.user or _("site"))
