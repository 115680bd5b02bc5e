"""Chat models that a vault's settings file names: rows of their own, offered there only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from providers.models import ChatModel, Origin, Provider
from providers.registry import CHAT_BACKENDS, can_chat

_SIZES = ("context_window", "max_output_tokens")
_PRICES = ("input_price", "output_price")


@dataclass(frozen=True, slots=True)
class WantedModel:
    """A model of a provider of this site. None and "": as the site's own row has it."""

    provider: str
    name: str
    label: str = ""
    context_window: int | None = None
    max_output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class NotKept:
    """A model that cannot be offered, why, and how to mend it."""

    model: WantedModel
    reason: str
    mend: str


@transaction.atomic
def keep_vault_models(vault_id: int, wanted: Sequence[WantedModel]) -> list[NotKept]:
    """Make the rows of this vault be `wanted`; returns what was refused.

    A row that is not wanted any more is switched off and marked, never deleted: somebody's
    choice may name it, and is told so.
    """
    providers = {row.slug: row for row in Provider.objects.all()}
    refused = [it for model in wanted if (it := _refusal(model, providers)) is not None]
    bad = {(it.model.provider, it.model.name) for it in refused}
    rows = {(row.provider.slug, row.name): row for row in _rows([vault_id])}
    kept = set()
    for model in wanted:
        key = (model.provider, model.name)
        if key not in bad:
            kept.add(key)
            _keep(vault_id, model, providers[model.provider], rows.get(key))
    for key, row in rows.items():
        if key not in kept and row.enabled:
            row.enabled, row.missing_since = False, timezone.now()
            row.save(update_fields=["enabled", "missing_since"])
    return refused


def forget_vaults(known: Iterable[int]) -> None:
    """Delete the models of vaults that are not among `known`: nobody can choose them."""
    ChatModel.objects.filter(of_vault__isnull=False).exclude(of_vault__in=list(known)).delete()


def available_vault_models(vault_ids: Collection[int]) -> list[ChatModel]:
    """Models that these vaults bring along and that can be used now."""
    return [
        row
        for row in _rows(vault_ids)
        if row.enabled and row.provider.vaults_may_add_models and can_chat(row)
    ]


def _rows(vault_ids: Collection[int]) -> list[ChatModel]:
    rows = ChatModel.objects.filter(of_vault__in=vault_ids).select_related("provider")
    return list(rows.order_by("of_vault", "provider__position", "name"))


def _refusal(model: WantedModel, providers: dict[str, Provider]) -> NotKept | None:
    writers = [slug for slug, row in providers.items() if _may_be_added_to(row)]
    provider = providers.get(model.provider)
    if provider is None or provider.kind not in CHAT_BACKENDS or provider.kind == "extractive":
        return NotKept(
            model,
            f"“{model.provider}” is no provider of this site that has chat models.",
            f"Use one of {', '.join(writers) or 'those an admin adds'}, or ask an admin to add it.",
        )
    if not provider.vaults_may_add_models:
        return NotKept(
            model,
            f"The admins of this site let no vault add models to “{provider.slug}”.",
            "Choose one of the models that the site offers, or ask an admin.",
        )
    return None


def _may_be_added_to(provider: Provider) -> bool:
    is_chat = provider.kind in CHAT_BACKENDS and provider.kind != "extractive"
    return is_chat and provider.vaults_may_add_models


def _keep(vault_id: int, model: WantedModel, provider: Provider, row: ChatModel | None) -> None:
    fields = _fields(model, provider)
    if row is None:
        ChatModel.objects.create(
            provider=provider,
            name=model.name,
            of_vault=vault_id,
            origin=Origin.VAULT,
            **fields,
        )
        return
    changed = [name for name, value in fields.items() if getattr(row, name) != value]
    if changed:
        for name in changed:
            setattr(row, name, fields[name])
        row.save(update_fields=changed)


def _fields(model: WantedModel, provider: Provider) -> dict[str, Any]:
    """What the row holds: the vault's word, else that of the site's row, else the default.

    A model the site has no price for counts at the provider's highest one, so that a limit
    in money stops too early rather than never.
    """
    others = list(ChatModel.objects.filter(provider=provider, of_vault=None))
    site = next((row for row in others if row.name == model.name), None)
    base = site or ChatModel()
    fields: dict[str, Any] = {name: getattr(model, name) or getattr(base, name) for name in _SIZES}
    priced = [site] if site else others
    for name in _PRICES:
        fields[name] = max((getattr(row, name) for row in priced), default=0)
    label = model.label or base.label
    return {**fields, "label": label, "enabled": True, "missing_since": None}
