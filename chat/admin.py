"""Admin of what admins decide: personas and the site's defaults.

Conversations, messages and runs are private to their owners and do not appear here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from chat.core.prompt import BASE_PROMPT
from chat.models import (
    ChatSettings,
    Conversation,
    Feedback,
    Persona,
    PromptPreset,
    ShareLink,
)
from chat.sharing import revoke

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.forms import ModelForm

    PersonaBase = admin.ModelAdmin[Persona]
    PresetBase = admin.ModelAdmin[PromptPreset]
    FeedbackBase = admin.ModelAdmin[Feedback]
    ChatSettingsBase = admin.ModelAdmin[ChatSettings]
    ShareLinkBase = admin.ModelAdmin[ShareLink]
else:
    PersonaBase = PresetBase = FeedbackBase = ChatSettingsBase = ShareLinkBase = admin.ModelAdmin


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


@admin.register(Feedback)
class FeedbackAdmin(FeedbackBase):
    """What readers say of answers, beside how these were found. Read-only.

    The question stands here only when its asker sent it along; the answer and the names
    of its notes never do: being staff gives no right to read.
    """

    list_display = ["updated", "is_helpful", "reason", "written_by", "mode", "arms", "passages"]
    list_filter = ["is_helpful", "reason", "updated"]
    search_fields = ["comment"]
    fields = [
        "updated", "is_helpful", "reason", "comment", "question", "written_by", "persona", "mode",
        "arms", "passages", "cited", "retrieval",
    ]  # fmt: skip
    readonly_fields = [
        "updated", "question", "written_by", "persona", "mode", "arms", "passages", "cited",
        "retrieval",
    ]  # fmt: skip

    def get_queryset(self, request: HttpRequest) -> QuerySet[Feedback]:
        return (
            super()
            .get_queryset(request)
            .select_related("message__parent", "message__retrieval_run")
        )

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Feedback | None = None) -> bool:
        return False

    @admin.display(description="question")
    def question(self, feedback: Feedback) -> str:
        asked = feedback.message.parent
        return asked.text if feedback.shares_question and asked else "not sent along"

    @admin.display(description="model")
    def written_by(self, feedback: Feedback) -> str:
        return feedback.message.model_label

    @admin.display(description="persona")
    def persona(self, feedback: Feedback) -> str:
        return feedback.message.persona_name or "none"

    @admin.display(description="mode")
    def mode(self, feedback: Feedback) -> str:
        return feedback.message.get_mode_display()

    @admin.display(description="arms that found something")
    def arms(self, feedback: Feedback) -> str:
        run = feedback.message.retrieval_run
        found = [arm["name"] for arm in run.arms if arm["ran"] and arm.get("found")] if run else []
        return ", ".join(found) or "none"

    @admin.display(description="passages read")
    def passages(self, feedback: Feedback) -> int:
        run = feedback.message.retrieval_run
        return run.passages if run else 0

    @admin.display(description="passages cited")
    def cited(self, feedback: Feedback) -> int:
        return len({citation["n"] for citation in feedback.message.citations})

    @admin.display(description="how it was found")
    def retrieval(self, feedback: Feedback) -> str:
        run = feedback.message.retrieval_run
        if run is None:
            return "no search is on record"
        url = reverse("admin:retrieval_retrievalrun_change", args=[run.pk])
        return format_html('<a href="{}">Search {}</a>', url, run.pk)


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
        "adds_sources",
        "follow_ups",
        "shares_unanswered",
        "tool_use",
        "tool_limit",
        "tool_steps",
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


@admin.register(ShareLink)
class ShareLinkAdmin(ShareLinkBase):
    """Who shares, until when, with how many: never what. Links can be taken back."""

    list_display = ["owner", "audience", "named", "created", "expires", "revoked", "opens"]
    list_filter = ["audience", "created"]
    search_fields = ["owner__email"]
    list_select_related = ["owner"]
    readonly_fields = (
        "owner",
        "audience",
        "named",
        "only_answer",
        "created",
        "expires",
        "revoked",
        "opens",
    )
    fields = readonly_fields
    actions = ["take_back"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ShareLink]:
        people = Count("users", distinct=True) + Count("groups", distinct=True)
        return super().get_queryset(request).annotate(count=people)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ShareLink | None = None) -> bool:
        return False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Numbers of everybody's conversations stand above the list: nothing else of them."""
        kept = Conversation.objects.filter(deleted=None)
        counts = {
            "people": kept.values("owner").distinct().count(),
            "conversations": kept.count(),
        }
        subtitle = _("%(people)d people, %(conversations)d conversations") % counts
        return super().changelist_view(request, {**(extra_context or {}), "subtitle": subtitle})

    @admin.display(description=_("people and groups named"))
    def named(self, link: ShareLink) -> int:
        count: int = link.count  # type: ignore[attr-defined]
        return count

    @admin.display(boolean=True, description=_("opens"))
    def opens(self, link: ShareLink) -> bool:
        return link.revoked is None and link.expires > timezone.now()

    @admin.action(description=_("Take the chosen links back"), permissions=["change"])
    def take_back(self, request: HttpRequest, links: QuerySet[ShareLink]) -> None:
        """They open nothing from now on; their owners can open them again."""
        count = 0
        for link in links.filter(revoked=None):
            revoke(link)
            count += 1
        said = _("%(count)d links were taken back.") % {"count": count}
        self.message_user(request, said)
