"""Search in the admin: its settings, and the record of what was retrieved."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from retrieval.core.comparing import Comparison
from retrieval.evaluation import would_be_worse
from retrieval.models import EvalRun, RetrievalRun, RetrievalSettings
from retrieval.options import knobs_of, site_knobs
from retrieval.presenters.evaluation import figures, measures_of, verdict
from retrieval.tasks import request_changed_evaluations

CONFIRMED = "_saved_although_worse"


@admin.register(RetrievalSettings)
class RetrievalSettingsAdmin(admin.ModelAdmin[RetrievalSettings]):
    """One row: it is made on first save and never deleted.

    Settings under which the golden questions are found less well are asked about first.
    """

    fieldsets = (
        (
            None,
            {
                "fields": (
                    "passages",
                    "token_budget",
                    "chunks_per_note",
                    "neighbours",
                    "linked_notes",
                )
            },
        ),
        ("Questions", {"fields": ("alternates",)}),
        (
            "Ranking",
            {
                "fields": (
                    *("fusion", "rrf_k", "depth", "overfetch"),
                    *("code_path", "note_vectors", "rerank_model"),
                )
            },
        ),
    )

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if request.method == "POST" and CONFIRMED not in request.POST:
            found = self._comparison(request, object_id)
            if found is not None and found.is_worse:
                return self._ask(request, found)
        return super().changeform_view(request, object_id, form_url, extra_context)

    def _comparison(self, request: HttpRequest, object_id: str | None) -> Comparison | None:
        """What golden questions say of the settings typed; None where nothing is to be said."""
        row = RetrievalSettings.objects.filter(pk=1).first()
        allowed = self.has_change_permission(request) if row else self.has_add_permission(request)
        form = self.get_form(request, row, change=row is not None)(request.POST, instance=row)
        if not allowed or not form.is_valid():
            return None
        return would_be_worse(site_knobs(), knobs_of(form.save(commit=False)))

    def _ask(self, request: HttpRequest, found: Comparison) -> HttpResponse:
        fields = [
            (name, value)
            for name, values in request.POST.lists()
            for value in values
            if name != "csrfmiddlewaretoken"
        ]
        context = {
            **self.admin_site.each_context(request),
            "title": "These settings find less",
            "opts": self.model._meta,
            "verdict": verdict(found),
            "better": len(found.better),
            "worse": len(found.worse),
            "same": found.same,
            "figures": figures(measures_of(found.after), measures_of(found.before)),
            "fields": fields,
            "confirmed": CONFIRMED,
        }
        return TemplateResponse(request, "admin/retrieval/worse_settings.html", context)

    def save_model(
        self,
        request: HttpRequest,
        obj: RetrievalSettings,
        form: object,
        change: bool,  # noqa: FBT001 (Django's signature)
    ) -> None:
        obj.pk = 1
        super().save_model(request, obj, form, change)
        request_changed_evaluations()

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


@admin.register(EvalRun)
class EvalRunAdmin(admin.ModelAdmin[EvalRun]):
    """Read-only figures; neither questions nor notes, which belong to the vault's readers."""

    list_display = ("created", "vault", "state", "total", "ndcg", "recall", "mrr")
    list_filter = ("state", "vault", "created")
    list_select_related = ("vault",)
    date_hierarchy = "created"
    fields = (
        *("created", "finished", "vault", "state", "error", "total"),
        *("knobs", "index", "metrics"),
    )

    @admin.display(description="nDCG@10")
    def ndcg(self, run: EvalRun) -> str:
        return _measured(run, "ndcg_10")

    @admin.display(description="recall@20")
    def recall(self, run: EvalRun) -> str:
        return _measured(run, "recall_20")

    @admin.display(description="MRR@10")
    def mrr(self, run: EvalRun) -> str:
        return _measured(run, "mrr_10")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: EvalRun | None = None) -> bool:
        return False


def _measured(run: EvalRun, name: str) -> str:
    scores = run.metrics.get("all")
    return f"{scores[name]:.3f}" if scores else "–"
