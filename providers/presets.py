"""Puts the shipped catalogue into the tables, without touching what an admin changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction

from providers.core.presets import ModelPreset, ProviderPreset, parse_presets
from providers.models import ChatModel, EmbeddingModel, Origin, Provider, RerankModel
from providers.registry import KINDS

PRESETS_FILE = Path(__file__).parent / "presets.json"
_TABLES: dict[str, type[ChatModel | EmbeddingModel | RerankModel]] = {
    "chat": ChatModel,
    "embeddings": EmbeddingModel,
    "rerank": RerankModel,
}


@dataclass(slots=True)
class LoadedPresets:
    """How many rows were made, brought up to date, found equal, left as edited."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    kept: int = 0


@transaction.atomic
def load_presets(path: Path = PRESETS_FILE) -> LoadedPresets:
    """Create or update one row for each provider and model of the file.

    Running it again changes nothing. A row that was edited in the admin, or made there
    under the same name, is left alone; so are rows that the file no longer names, since
    conversations and vectors may still need them. Raises InvalidPresets.
    """
    loaded = LoadedPresets()
    for preset in parse_presets(path.read_text(encoding="utf-8"), kinds=KINDS):
        provider = _load_provider(preset, loaded)
        for model in preset.models:
            _load_model(provider, model, loaded)
    return loaded


def _load_provider(preset: ProviderPreset, loaded: LoadedPresets) -> Provider:
    row = Provider.objects.filter(slug=preset.slug).first()
    if row is None:
        loaded.created += 1
        return Provider.objects.create(slug=preset.slug, origin=Origin.PRESET, **preset.fields)
    _bring_up_to_date(row, preset.fields, loaded)
    return row


def _load_model(provider: Provider, preset: ModelPreset, loaded: LoadedPresets) -> None:
    table: Any = _TABLES[preset.use]
    rows = table.objects.filter(provider=provider).exclude(origin=Origin.VAULT)
    row = rows.filter(name=preset.name).first()
    if row is not None:
        _bring_up_to_date(row, preset.fields, loaded)
        return
    fields = dict(preset.fields)
    # An admin who made another model the default keeps that choice.
    if rows.filter(is_default=True).exists():
        fields["is_default"] = False
    table.objects.create(provider=provider, name=preset.name, origin=Origin.PRESET, **fields)
    loaded.created += 1


def _bring_up_to_date(row: Any, fields: Any, loaded: LoadedPresets) -> None:
    if row.edited or row.origin != Origin.PRESET:
        loaded.kept += 1
        return
    changed = [name for name, value in fields.items() if getattr(row, name) != value]
    if not changed:
        loaded.unchanged += 1
        return
    for name in changed:
        setattr(row, name, fields[name])
    row.save(update_fields=changed)
    loaded.updated += 1
