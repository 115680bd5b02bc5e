"""What helps to ask: questions kept for reuse."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import Group
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from chat.querysets import PromptPresetQuerySet

LONGEST_PRESET = 8_000  # characters


class PromptPreset(models.Model):
    """A question with gaps, called with `/name`. Without an owner it is everybody's."""

    name = models.CharField(
        max_length=40,
        validators=[
            RegexValidator(
                r"^[\w-]+\Z", _("Letters, digits, hyphens and underscores, without spaces.")
            )
        ],
        help_text=_("What is typed after the slash."),
    )
    title = models.CharField(max_length=100, help_text=_("What the list says it does."))
    text = models.TextField(
        max_length=LONGEST_PRESET,
        help_text=_("{{topic}} asks for a value, {{topic=plans}} begins with one."),
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="presets",
    )
    group = models.ForeignKey(
        Group,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        help_text=_("Whose members may use it as well."),
    )
    updated = models.DateTimeField(auto_now=True)

    objects = PromptPresetQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name"],
                name="preset_name_once",
                violation_error_message=_("You have a preset of that name already."),
            ),
            models.UniqueConstraint(
                fields=["name"], condition=Q(owner=None), name="preset_name_once_for_all"
            ),
        ]

    def __str__(self) -> str:
        return f"/{self.name}"
