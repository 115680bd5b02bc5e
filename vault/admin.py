"""Vaults, their members, and what became of their files, for administrators.

Notes, runs, findings and jobs are shown, never edited: they follow from the files. The
queue's own pages are not shown at all, since whoever may add a schedule there may run
any function.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from django_q.models import Failure, OrmQ, Schedule, Success

from vault import jobs
from vault.index_admin import CHOICE_OF_MODEL, EnrichmentInline, ModelChoice
from vault.models import ApiToken, Job, Note, SyncRun, Vault, VaultMember
from vault.reindexing import reindex_failed, reindex_notes
from vault.removal import RemovalRefused, delete_vault, restore_vault
from vault.removal_tasks import call_off_removal, request_removal
from vault.settings_forms import PassageSizesForm, read_patterns
from vault.size_trials import trial_of
from vault.status import coverage_of
from vault.sync import answer_pause, pause_vault
from vault.tasks import request_embed, request_rescrub, request_sync

for model in (Failure, OrmQ, Schedule, Success):
    if admin.site.is_registered(model):
        admin.site.unregister(model)


class ReadOnlyAdmin(admin.ModelAdmin[Any]):
    """Shows rows that nobody edits by hand."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class MemberInline(admin.TabularInline[VaultMember, Vault]):
    model = VaultMember
    extra = 0
    autocomplete_fields = ["user", "group"]


class VaultForm(forms.ModelForm[Vault]):
    """A vault as administrators change it."""

    class Meta:
        help_texts = {
            "slug": _("In addresses: pages, conversations and scripts name the vault by it."),
            "scrub_emails": _("Take e-mail addresses out of what is stored, as secrets are."),
            "largest_note_kb": _("Larger notes are listed as too large and not read."),
            "chunk_tokens": _("A passage has about so many tokens; a model's window limits it."),
            "chunk_overlap": _("So much of a passage is repeated at the begin of the next one."),
            "chunk_minimum": _("A shorter rest goes with the passage before it."),
        }
        widgets = {
            "ignored": forms.Textarea(attrs={"rows": 4, "cols": 60}),
            "code_suffixes": forms.Textarea(attrs={"rows": 3, "cols": 60}),
        }

    save_although_worse = forms.BooleanField(
        required=False, label=_("Save these sizes of passages although they find less")
    )

    def clean_ignored(self) -> str:
        """Refuse a pattern that no scan could read."""
        return read_patterns(self.cleaned_data["ignored"])

    def clean(self) -> dict[str, Any]:
        """Sizes of passages that a trial found worse are saved when somebody insists."""
        data = super().clean() or self.cleaned_data
        report = worse_report(self.instance.pk, self.data)
        if report and not data.get("save_although_worse"):
            said = _(
                "With these sizes of passages less is found: nDCG@10 %(before).3f → %(after).3f "
                "over %(questions)d golden questions. Nothing was saved yet."
            )
            values = {
                "before": report["before"]["ndcg_10"],
                "after": report["after"]["ndcg_10"],
                "questions": report["questions"],
            }
            self.add_error("save_although_worse", said % values)
        return data


def worse_report(vault_id: int | None, typed: Mapping[str, Any]) -> dict[str, Any]:
    """What a trial said of the sizes typed for a vault, where it found less; else nothing."""
    form = PassageSizesForm(typed)
    vault = Vault.objects.filter(pk=vault_id).first() if vault_id is not None else None
    if vault is None or not form.is_valid():
        return {}
    trial = trial_of(vault, form.sizes)
    return trial.report if trial is not None and trial.report.get("is_worse") else {}


@admin.register(Vault)
class VaultAdmin(ModelChoice):
    form = VaultForm
    list_display = ["name", "slug", "state", "coverage", "embedding_model", "last_sync", "place"]
    list_filter = ["state", "source_kind", "embedding_model"]
    list_select_related = ["embedding_model__provider", "next_embedding_model__provider"]
    search_fields = ["name", "slug", "place"]
    inlines = [MemberInline, EnrichmentInline]
    readonly_fields = ["state", "pause_reason", "created"]
    actions = [
        "sync_now",
        "embed_now",
        "switch_model",
        "read_again",
        "rescrub",
        "pause",
        "resume",
        "resume_and_delete",
        "bring_back",
    ]
    fieldsets = [
        (
            None,
            {"fields": ["name", "slug", "source_kind", "place", "git_branch", "token_variable"]},
        ),
        (_("State"), {"fields": ["state", "pause_reason", "created"]}),
        (
            _("Search by meaning"),
            {
                "fields": CHOICE_OF_MODEL,
                "description": _(
                    "The action “Switch to another embedding model” of the list changes it."
                ),
            },
        ),
        (
            _("Reading"),
            {
                "fields": [
                    "ignored",
                    "templates_folder",
                    "code_suffixes",
                    "scrub_emails",
                    "largest_note_kb",
                    "largest_attachment_kb",
                    "chunk_tokens",
                    "chunk_overlap",
                    "chunk_minimum",
                ],
                "description": _("Every note is read anew by the next sync after a change here."),
            },
        ),
        (_("Other programs"), {"fields": ["keeps_facts"]}),
    ]

    def get_fieldsets(self, request: HttpRequest, obj: Vault | None = None) -> Any:
        """Whoever typed sizes of passages that find less may insist on them."""
        fieldsets = list(super().get_fieldsets(request, obj))
        if obj is not None and request.method == "POST" and worse_report(obj.pk, request.POST):
            fieldsets.insert(0, (None, {"fields": ["save_although_worse"]}))
        return fieldsets

    def get_readonly_fields(self, request: HttpRequest, obj: Vault | None = None) -> Any:
        """The slug is chosen once: conversations would lose a vault that has another."""
        fields = super().get_readonly_fields(request, obj)
        return [*fields, *(["slug"] if obj else [])]

    def get_prepopulated_fields(self, request: HttpRequest, obj: Vault | None = None) -> Any:
        return {} if obj else {"slug": ["name"]}

    @admin.display(description=_("searchable"))
    def coverage(self, vault: Vault) -> str:
        return coverage_of(vault)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Vault]:
        """With the last sync of each."""
        runs = SyncRun.objects.filter(vault=OuterRef("pk"), kind=SyncRun.Kind.SYNC)
        last = runs.order_by("-started")
        return (
            super()
            .get_queryset(request)
            .annotate(
                last_started=Subquery(last.values("started")[:1]),
                last_state=Subquery(last.values("state")[:1]),
            )
        )

    @admin.display(description=_("last sync"), ordering="last_started")
    def last_sync(self, vault: Any) -> str:
        if vault.last_started is None:
            return ""
        return f"{vault.last_started:%Y-%m-%d %H:%M} {SyncRun.State(vault.last_state).label}"

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """The vaults alone: counting a million rows would hold the page up."""
        names = [str(vault) for vault in objs]
        return names, {str(_("Vaults with all that was made of them")): len(names)}, set(), []

    def delete_model(self, request: HttpRequest, obj: Vault) -> None:
        """As on the vault's page: hidden at once, removed by the worker in small steps."""
        self._delete(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Vault]) -> None:
        for vault in queryset:
            self._delete(request, vault)

    def _delete(self, request: HttpRequest, vault: Vault) -> None:
        try:
            delete_vault(vault.pk, typed=vault.name)
        except RemovalRefused as refused:
            messages.warning(request, f"{vault}: {refused}")
        else:
            request_removal(vault.pk)

    def save_model(self, request: HttpRequest, obj: Vault, form: Any, change: Any) -> None:
        """Of a vault that is there what was changed alone: syncs and switches of the model
        write its other columns meanwhile."""
        if change:
            columns = {field.name for field in Vault._meta.concrete_fields}
            obj.save(update_fields=sorted(columns.intersection(form.changed_data)))
        else:
            super().save_model(request, obj, form, change)
        request_sync(obj.pk)

    @admin.action(description=_("Sync now"))
    def sync_now(self, request: HttpRequest, queryset: QuerySet[Vault]) -> None:
        for vault in queryset:
            request_sync(vault.pk)
        self._tell(request, queryset.count())

    @admin.action(description=_("Try again what failed"))
    def embed_now(self, request: HttpRequest, queryset: QuerySet[Vault]) -> None:
        for vault in queryset:
            reindex_failed(vault.pk)
            request_sync(vault.pk)
            request_embed(vault.pk)
        self._tell(request, queryset.count())

    @admin.action(description=_("Read every note again from its file"))
    def read_again(self, request: HttpRequest, queryset: QuerySet[Vault]) -> None:
        for vault in queryset:
            reindex_notes(Note.objects.filter(vault=vault))
            request_sync(vault.pk)
        self._tell(request, queryset.count())

    @admin.action(description=_("Scrub what is stored by the rules of this version"))
    def rescrub(self, request: HttpRequest, queryset: QuerySet[Vault]) -> None:
        for vault in queryset:
            request_rescrub(vault.pk)
        self._tell(request, queryset.count())

    @admin.action(description=_("Pause: read nothing until somebody resumes"))
    def pause(self, request: HttpRequest, queryset: QuerySet[Vault]) -> None:
        active = list(queryset.filter(state=Vault.State.ACTIVE))
        for vault in active:
            pause_vault(vault.pk, reason=str(_("An administrator paused it.")))
        self._tell(request, len(active))

    @admin.action(description=_("Resume; ask again if notes are still missing"))
    def resume(self, request: HttpRequest, queryset: QuerySet[Vault]) -> None:
        self._answer(request, queryset, delete=False)

    @admin.action(description=_("Resume and delete the notes that are gone from the folder"))
    def resume_and_delete(self, request: HttpRequest, queryset: QuerySet[Vault]) -> None:
        self._answer(request, queryset, delete=True)

    @admin.action(description=_("Bring deleted vaults back"))
    def bring_back(self, request: HttpRequest, queryset: QuerySet[Vault]) -> None:
        count = 0
        for vault in queryset.filter(state__in=Vault.GONE):
            try:
                restore_vault(vault.pk)
            except RemovalRefused as refused:
                messages.warning(request, f"{vault}: {refused}")
            else:
                call_off_removal(vault.pk)
                count += 1
        self._tell(request, count)

    def _answer(self, request: HttpRequest, vaults: QuerySet[Vault], *, delete: bool) -> None:
        paused = list(vaults.filter(state=Vault.State.PAUSED))
        for vault in paused:
            answer_pause(vault.pk, delete=delete)
            request_sync(vault.pk)
        self._tell(request, len(paused))

    def _tell(self, request: HttpRequest, count: int) -> None:
        text = ngettext("%d vault: the worker is told.", "%d vaults: the worker is told.", count)
        messages.success(request, text % count)


@admin.register(SyncRun)
class SyncRunAdmin(ReadOnlyAdmin):
    """How syncs went, in numbers. Which files were wrong stands on the vault's page, for those
    who may read it: the admin is for configuration, not a way around rights."""

    list_display = ["vault", "kind", "started", "finished", "state", "counts", "error"]
    list_filter = ["kind", "state", "vault"]
    list_select_related = ["vault"]
    fields = ["vault", "kind", "state", "counts", "error", "started", "finished"]


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    """What the worker does, did, and gave up, with the reason and a way to try again."""

    list_display = [
        "key",
        "vault",
        "state",
        "how_far",
        "attempts",
        "last_error",
        "created",
        "finished",
    ]
    list_filter = ["state", "kind", "vault"]
    list_select_related = ["vault"]
    search_fields = ["key", "vault__name", "last_error"]
    actions = ["retry"]

    @admin.display(description=_("progress"))
    def how_far(self, job: Job) -> str:
        done, total = job.progress.get("done"), job.progress.get("total")
        return f"{done} of {total}" if total else str(done or "")

    @admin.action(description=_("Retry"), permissions=["retry"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Job]) -> None:
        failed = list(queryset.filter(state=Job.State.FAILED))
        for job in failed:
            jobs.retry(job)
        text = ngettext("%d job is tried again.", "%d jobs are tried again.", len(failed))
        messages.success(request, text % len(failed))

    def has_retry_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("vault.change_job")


@admin.register(ApiToken)
class ApiTokenAdmin(admin.ModelAdmin[ApiToken]):
    """Tokens may be taken away here; they are made by `create_token`, which shows them once."""

    list_display = ["user", "name", "created", "last_used"]
    search_fields = ["user__email", "name"]
    list_select_related = ["user"]
    fields = ["user", "name", "created", "last_used"]
    readonly_fields = ["user", "name", "created", "last_used"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False
