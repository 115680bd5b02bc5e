"""Providers, their models and the use of them in the admin."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.text import slugify
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from providers.circuits import trouble_of
from providers.core.errors import ProviderError
from providers.core.redaction import last_four
from providers.fields import UnreadableSecret
from providers.forms import ProviderForm
from providers.limits import allowance_of, used_of
from providers.models import (
    ChatModel,
    EmbeddingModel,
    Origin,
    Provider,
    ProviderModel,
    RerankModel,
    UsageLimit,
    UsageRecord,
)
from providers.probes import probe_provider
from providers.refreshing import Refreshed, refresh_models
from providers.registry import KIND_LABELS, availability, key_of

_MOST_NAMES = 20
_MODEL_TABLES: tuple[type[ProviderModel], ...] = (ChatModel, EmbeddingModel, RerankModel)


class KindFilter(admin.SimpleListFilter):
    """The kinds that are in the table, by the names people know."""

    title = _("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        kinds = set(Provider.objects.values_list("kind", flat=True))
        return [(kind, str(label)) for kind, label in KIND_LABELS.items() if kind in kinds]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


@admin.register(Provider)
class ProviderAdmin(admin.ModelAdmin[Provider]):
    form = ProviderForm
    list_display = (
        "name",
        "kind_label",
        "is_available",
        "why_not",
        "key_state",
        "enabled",
        "edited",
    )
    list_filter = (KindFilter, "enabled", "origin")
    search_fields = ("name", "slug", "base_url")
    readonly_fields = ("key_state", "is_available", "why_not", "origin", "edited")
    actions = ("test_connection", "refresh", "clone")
    fieldsets = (
        (
            None,
            {"fields": ("name", "slug", "kind", "enabled", "position", "vaults_may_add_models")},
        ),
        (_("Address"), {"fields": ("base_url", "base_url_variable")}),
        (
            _("Key"),
            {"fields": ("needs_key", "key_variable", "key_state", "new_key", "remove_key")},
        ),
        (_("State"), {"fields": ("is_available", "why_not", "origin", "edited")}),
    )

    @admin.display(description=_("kind"), ordering="kind")
    def kind_label(self, provider: Provider) -> str:
        return str(KIND_LABELS.get(provider.kind, provider.kind))

    @admin.display(description=_("available"), boolean=True)
    def is_available(self, provider: Provider) -> bool:
        return not self.why_not(provider)

    @admin.display(description=_("why not"))
    def why_not(self, provider: Provider) -> str:
        return availability(provider).reason or trouble_of(provider)

    @admin.display(description=_("key"))
    def key_state(self, provider: Provider) -> str:
        if isinstance(provider.key, UnreadableSecret) and not key_of(provider).key:
            return gettext("stored, but unreadable")
        state = key_of(provider)
        if not state.key:
            return gettext("none") if provider.needs_key else gettext("not needed")
        if state.source == "environment":
            return f"{last_four(state.key)} ({provider.key_variable})"
        return gettext("%(end)s (stored)") % {"end": last_four(state.key)}

    def save_model(
        self,
        request: HttpRequest,
        obj: Provider,
        form: ModelForm[Provider],
        change: bool,  # noqa: FBT001 (Django's signature)
    ) -> None:
        obj.edited = obj.edited or change
        super().save_model(request, obj, form, change)
        if isinstance(form, ProviderForm) and form.lost_key:
            messages.warning(
                request,
                gettext(
                    "The base URL now names another host, so the stored key was removed: "
                    "enter the key for the new one."
                ),
            )

    @admin.action(description=_("Test connection"), permissions=["change"])
    def test_connection(self, request: HttpRequest, queryset: QuerySet[Provider]) -> None:
        for provider in queryset:
            for result in probe_provider(provider):
                text = f"{result.subject}: {result.said}"
                if result.succeeded:
                    messages.success(request, f"{text} ({result.milliseconds} ms)")
                else:
                    messages.error(request, f"{text} {result.mend}".strip())

    @admin.action(description=_("Refresh the list of models"), permissions=["change"])
    def refresh(self, request: HttpRequest, queryset: QuerySet[Provider]) -> None:
        for provider in queryset:
            try:
                refreshed = refresh_models(provider)
            except ProviderError as error:
                place = "" if str(error).startswith(provider.name) else f"{provider.name}: "
                messages.error(request, f"{place}{error} {error.mend}")
            else:
                for said in _what_changed(refreshed):
                    messages.success(request, f"{provider.name}: {said}")

    @admin.action(description=_("Clone with its models, without its key"), permissions=["add"])
    def clone(self, request: HttpRequest, queryset: QuerySet[Provider]) -> None:
        copies = [_clone(provider) for provider in queryset]
        text = ngettext(
            "%d copy made, without a key.", "%d copies made, without keys.", len(copies)
        )
        messages.success(request, text % len(copies))


class ProviderModelAdmin(admin.ModelAdmin[Any]):
    """What the pages of chat, embedding and rerank models share."""

    actions = ("switch_on", "switch_off")
    list_filter = ("provider", "enabled", "is_default", "origin")
    list_select_related = ("provider",)
    search_fields = ("name", "label")
    readonly_fields: ClassVar[tuple[str, ...]] = ("origin", "edited", "missing_since")
    autocomplete_fields = ("provider",)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What a vault names is changed in the vault: the next sync would undo it here."""
        is_of_vault = obj is not None and obj.origin == Origin.VAULT
        return not is_of_vault and super().has_change_permission(request, obj)

    @admin.display(description=_("available"), boolean=True)
    def is_available(self, model: ProviderModel) -> bool:
        return not self.why_not(model)

    @admin.display(description=_("why not"))
    def why_not(self, model: ProviderModel) -> str:
        """The reason, the nearest first: the model's own, then its provider's."""
        if not model.enabled:
            return gettext("it is switched off")
        return availability(model.provider).reason or trouble_of(model.provider)

    @admin.action(description=_("Switch on"), permissions=["change"])
    def switch_on(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        queryset.exclude(origin=Origin.VAULT).update(enabled=True, edited=True)

    @admin.action(description=_("Switch off"), permissions=["change"])
    def switch_off(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        queryset.exclude(origin=Origin.VAULT).update(enabled=False, edited=True)

    def save_model(
        self,
        request: HttpRequest,
        obj: Any,
        form: Any,
        change: bool,  # noqa: FBT001 (Django's signature)
    ) -> None:
        obj.edited = obj.edited or change
        super().save_model(request, obj, form, change)
        if obj.is_default:
            others = type(obj).objects.filter(provider=obj.provider, is_default=True)
            others.exclude(pk=obj.pk).update(is_default=False, edited=True)


@admin.register(ChatModel)
class ChatModelAdmin(ProviderModelAdmin):
    readonly_fields = (*ProviderModelAdmin.readonly_fields, "token_factor")
    list_display = (
        "__str__",
        "name",
        "provider",
        "is_available",
        "why_not",
        "is_default",
        "context_window",
        "origin",
        "enabled",
    )


@admin.register(EmbeddingModel)
class EmbeddingModelAdmin(ProviderModelAdmin):
    list_display = (
        "__str__",
        "name",
        "provider",
        "is_available",
        "why_not",
        "is_default",
        "dimensions",
        "max_tokens",
        "enabled",
    )
    readonly_fields = (*ProviderModelAdmin.readonly_fields, "off_topic")

    @admin.display(description=_("off-topic under"))
    def off_topic(self, model: EmbeddingModel) -> str:
        """The similarity under which a question is taken for one about something else."""
        if model.provider.kind == "local_e5":
            return gettext("0.25 (measured by hand; 0.16 and 0.28 for a word or two)")
        if not model.noise_space:
            return gettext("not measured: that takes a hundred passages with vectors")
        known = {"passages": model.noise_passages, "spread": f"{model.noise_spread:.3f}"}
        if model.noise_bar is None:
            return gettext("none: similarities differ too little (by %(spread)s) to tell") % known
        said = gettext("%(bar)s (measured by %(passages)d passages, spread %(spread)s)")
        return said % {**known, "bar": f"{model.noise_bar:.2f}"}


@admin.register(RerankModel)
class RerankModelAdmin(ProviderModelAdmin):
    list_display = (
        "__str__",
        "name",
        "provider",
        "is_available",
        "why_not",
        "is_default",
        "shape",
        "enabled",
    )


@admin.register(UsageRecord)
class UsageRecordAdmin(admin.ModelAdmin[UsageRecord]):
    """Read only: it is a record of what happened."""

    list_display = (
        "created",
        "user",
        "purpose",
        "provider",
        "model",
        "input_tokens",
        "output_tokens",
        "cost",
        "milliseconds",
        "failed_with",
    )
    list_filter = ("purpose", "provider", "failed_with", "created")
    list_select_related = ("user",)
    search_fields = ("model", "user__email")
    date_hierarchy = "created"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: UsageRecord | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: UsageRecord | None = None) -> bool:
        return False


@admin.register(UsageLimit)
class UsageLimitAdmin(admin.ModelAdmin[UsageLimit]):
    list_display = ("whose", "period", "most_tokens", "most_cost", "used", "enabled")
    list_filter = ("period", "enabled", "per_person")
    list_select_related = ("user", "group")
    search_fields = ("user__email", "group__name")
    autocomplete_fields = ("user", "group")

    @admin.display(description=_("used now"))
    def used(self, limit: UsageLimit) -> str:
        allowance = allowance_of(limit)
        return used_of(allowance) if allowance else gettext("counted for each person")


def _what_changed(refreshed: Refreshed) -> list[str]:
    """The outcome of a refresh in sentences; one that says so when there was none."""
    parts = (
        (_("new, switched off until you switch them on"), refreshed.added),
        (_("not listed any more, kept as they are"), refreshed.vanished),
        (_("listed again"), refreshed.returned),
        (_("not for chat; enter by hand what you need of"), refreshed.by_hand),
    )
    said = [f"{len(names)} {text}: {_shortened(names)}" for text, names in parts if names]
    if not (refreshed.added or refreshed.vanished or refreshed.returned):
        said.insert(0, gettext("its chat models are as before"))
    return said


def _shortened(names: list[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMES])
    return shown if len(names) <= _MOST_NAMES else f"{shown}, …"


def _clone(provider: Provider) -> Provider:
    """A copy with a free slug and the same models; a key is never copied."""
    models = [model for table in _MODEL_TABLES for model in _models_of(table, provider)]
    copy = Provider.objects.get(pk=provider.pk)
    copy.pk = None
    copy._state.adding = True
    copy.slug = _free_slug(provider.slug)
    copy.name = gettext("Copy of %(name)s") % {"name": provider.name}
    copy.key, copy.origin, copy.edited = "", Origin.ADMIN, False
    copy.save()
    for model in models:
        model.pk = None
        model._state.adding = True
        model.provider, model.origin, model.edited = copy, Origin.ADMIN, False
        model.save()
    return copy


def _models_of(table: type[ProviderModel], provider: Provider) -> list[ProviderModel]:
    manager: Any = table._default_manager
    return list(manager.filter(provider=provider).exclude(origin=Origin.VAULT))


def _free_slug(slug: str) -> str:
    taken = set(Provider.objects.values_list("slug", flat=True))
    number = 2
    while (candidate := slugify(f"{slug[:50]}-{number}")) in taken:
        number += 1
    return candidate
