"""Search in the admin: its settings, and the record of what was retrieved."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from retrieval.models import RetrievalRun, RetrievalSettings


@admin.register(RetrievalSettings)
class RetrievalSettingsAdmin(admin.ModelAdmin[RetrievalSettings]):
    """One row: it is made on first save and never deleted."""

    fieldsets = (
        (None, {"fields": ("passages", "token_budget", "chunks_per_note", "neighbours")}),
        ("Questions", {"fields": ("alternates",)}),
        ("Ranking", {"fields": ("fusion", "rrf_k", "depth", "rerank_model")}),
    )

    def save_model(
        self,
        request: HttpRequest,
        obj: RetrievalSettings,
        form: object,
        change: bool,  # noqa: FBT001 (Django's signature)
    ) -> None:
        obj.pk = 1
        super().save_model(request, obj, form, change)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return not RetrievalSettings.objects.exists() and super().has_add_permission(request)

    def has_delete_permission(
        self, request: HttpRequest, obj: RetrievalSettings | None = None
    ) -> bool:
        return False


@admin.register(RetrievalRun)
class RetrievalRunAdmin(admin.ModelAdmin[RetrievalRun]):
    """Read-only: what each arm did and how long it took.

    Neither who asked nor what: conversations are private, from staff too.
    """

    list_display = ("created", "mode", "passages", "milliseconds")
    list_filter = ("mode", "created")
    date_hierarchy = "created"
    fields = ("created", "mode", "vaults", "knobs", "arms", "timings", "passages")

    @admin.display(description="ms")
    def milliseconds(self, run: RetrievalRun) -> int:
        return round(float(run.timings.get("total", 0)))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: RetrievalRun | None = None) -> bool:
        return False
