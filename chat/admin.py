"""Admin of what admins decide: personas and the site's defaults.

Conversations, messages and runs are private to their owners and do not appear here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest

from chat.core.prompt import BASE_PROMPT
from chat.models import ChatSettings, Feedback, Persona, PromptPreset

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.forms import ModelForm

    PersonaBase = admin.ModelAdmin[Persona]
    PresetBase = admin.ModelAdmin[PromptPreset]
    FeedbackBase = admin.ModelAdmin[Feedback]
    ChatSettingsBase = admin.ModelAdmin[ChatSettings]
else:
    PersonaBase = PresetBase = FeedbackBase = ChatSettingsBase = admin.ModelAdmin


@admin.register(Persona)
class PersonaAdmin(PersonaBase):
    """The site's own: those of vaults stand in the vaults' files."""

    list_display = ["name", "role", "model", "enabled"]
    list_filter = ["enabled"]
    search_fields = ["name", "role", "prompt"]
    filter_horizontal = ["vaults"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Persona]:
        return super().get_queryset(request).filter(settings_file=None)


@admin.register(PromptPreset)
class PromptPresetAdmin(PresetBase):
    """Everybody's presets: those of users are theirs."""

    list_display = ["__str__", "title", "updated"]
    search_fields = ["name", "title", "text"]
    fields = ["name", "title", "text"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[PromptPreset]:
        return super().get_queryset(request).filter(owner=None)


@admin.register(ChatSettings)
class ChatSettingsAdmin(ChatSettingsBase):
    """The site's row alone: what users chose for themselves is theirs."""

    list_display = ["__str__", "model", "persona", "mode", "passages"]
    fields = [
        "model",
        "persona",
        "mode",
        "system_prompt",
        "passages",
        "alternates",
        "rerank",
        "follow_ups",
        "shares_unanswered",
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ChatSettings]:
        return super().get_queryset(request).filter(user=None)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and not self.get_queryset(request).exists()

    def get_form(
        self,
        request: HttpRequest,
        obj: ChatSettings | None = None,
        change: bool = False,  # noqa: FBT001, FBT002 Django's own signature
        **kwargs: Any,
    ) -> type[ModelForm[ChatSettings]]:
        form = super().get_form(request, obj, change, **kwargs)
        prompt = form.base_fields.get("system_prompt")
        if prompt is not None:
            prompt.help_text = "Empty: the product's own prompt, which is shown here."
            prompt.widget.attrs["placeholder"] = BASE_PROMPT
        return form
