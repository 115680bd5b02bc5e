"""How vaults are made searchable by meaning, for administrators."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from providers.registry import available_embedding_models
from vault.generations import begin_switch
from vault.index_forms import ModelForm
from vault.index_tasks import request_new_model
from vault.models import Enrichment, Upkeep, Vault

CHOICE_OF_MODEL = ("embedding_model", "next_embedding_model", "previous_embedding_model")


class EnrichmentInline(admin.StackedInline[Enrichment, Vault]):
    """Context lines of a vault. The page of the vault tells the cost first."""

    model = Enrichment
    extra = 0
    max_num = 1
    fields = (
        ("contextualize", "summarize", "context_model"),
        ("switched_on_by", "calls", "input_tokens", "output_tokens", "cost"),
    )
    readonly_fields = ("switched_on_by", "calls", "input_tokens", "output_tokens", "cost")
    can_delete = False


class ModelChoice(admin.ModelAdmin[Vault]):
    """The embedding model of a vault is free at its birth; later it is switched, so that
    search never stands without vectors."""

    def get_readonly_fields(self, request: HttpRequest, obj: Vault | None = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        return [*fields, *(CHOICE_OF_MODEL if obj else CHOICE_OF_MODEL[1:])]

    @admin.action(description=_("Switch to another embedding model…"), permissions=["change"])
    def switch_model(self, request: HttpRequest, queryset: QuerySet[Vault]) -> HttpResponse | None:
        """Ask which, then let it be built beside the one that serves."""
        chosen = request.POST if "confirm" in request.POST else None
        form = ModelForm(chosen, models=available_embedding_models(), serving=None)
        if chosen is not None and form.is_valid():
            for vault in queryset:
                begin_switch(vault.pk, form.chosen)
                request_new_model(vault.pk)
            count = queryset.count()
            text = ngettext("%d vault: the switch begins.", "%d vaults: the switch begins.", count)
            messages.success(request, text % count)
            return None
        context = {
            **self.admin_site.each_context(request),
            "title": _("Switch to another embedding model"),
            "opts": self.model._meta,
            "form": form,
            "vaults": queryset,
        }
        return TemplateResponse(request, "admin/switch_model.html", context)


@admin.register(Upkeep)
class UpkeepAdmin(admin.ModelAdmin[Upkeep]):
    """One row: it is made on first save and never deleted."""

    fields = ("check_schedule", "keep_vectors_days", "checked")
    readonly_fields = ("checked",)

    def save_model(self, request: HttpRequest, obj: Upkeep, form: Any, change: Any) -> None:
        obj.pk = 1
        super().save_model(request, obj, form, change)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return not Upkeep.objects.exists() and super().has_add_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Upkeep | None = None) -> bool:
        return False
