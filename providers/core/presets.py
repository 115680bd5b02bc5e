"""The shipped catalogue of providers and models, read from its JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

PROVIDER_FIELDS: Mapping[str, type] = {
    "name": str,
    "kind": str,
    "base_url": str,
    "base_url_variable": str,
    "key_variable": str,
    "needs_key": bool,
    "position": int,
}
_MODEL_FIELDS: Mapping[str, type] = {"label": str, "is_default": bool}
MODEL_FIELDS: Mapping[str, Mapping[str, type]] = {
    "chat": {
        **_MODEL_FIELDS,
        "context_window": int,
        "max_output_tokens": int,
        "input_price": Decimal,
        "output_price": Decimal,
    },
    "embeddings": {
        **_MODEL_FIELDS,
        "dimensions": int,
        "max_tokens": int,
        "query_prefix": str,
        "passage_prefix": str,
        "price": Decimal,
        "revision": str,
    },
    "rerank": {**_MODEL_FIELDS, "shape": str},
}
SHAPES = ("cohere", "tei")


class InvalidPresets(ValueError):
    """A presets file that cannot be used; `str()` names the place in it."""


@dataclass(frozen=True, slots=True)
class ModelPreset:
    """One model: its use ("chat", "embeddings", "rerank"), its name, its other fields."""

    use: str
    name: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ProviderPreset:
    """One provider with its models."""

    slug: str
    fields: Mapping[str, Any]
    models: tuple[ModelPreset, ...]


def parse_presets(text: str, *, kinds: Iterable[str]) -> tuple[ProviderPreset, ...]:
    """The providers of a presets file. Raises InvalidPresets, which names the field."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise InvalidPresets(f"The presets are not JSON: {error}") from error
    rows = document.get("providers") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        raise InvalidPresets('The presets must be an object with a list under "providers".')
    known = frozenset(kinds)
    presets = tuple(_provider(row, f"providers[{n}]", known) for n, row in enumerate(rows))
    _refuse_repeats([preset.slug for preset in presets], "providers", "slug")
    return presets


def _provider(row: Any, place: str, kinds: frozenset[str]) -> ProviderPreset:
    _must_be_object(row, place)
    fields = {key: value for key, value in row.items() if key not in {"slug", *MODEL_FIELDS}}
    slug = _text(row, "slug", place)
    place = f"{place} ({slug})"
    for key in ("name", "kind"):
        _text(row, key, place)
    if row["kind"] not in kinds:
        raise InvalidPresets(
            f"{place}.kind: {row['kind']!r} is not one of {', '.join(sorted(kinds))}."
        )
    models = tuple(
        model for use in MODEL_FIELDS for model in _models(row.get(use, []), use, f"{place}.{use}")
    )
    return ProviderPreset(slug, _typed(fields, PROVIDER_FIELDS, place), models)


def _models(rows: Any, use: str, place: str) -> list[ModelPreset]:
    if not isinstance(rows, list):
        raise InvalidPresets(f"{place}: must be a list of models.")
    models = [_model(row, use, f"{place}[{number}]") for number, row in enumerate(rows)]
    _refuse_repeats([model.name for model in models], place, "name")
    if sum(bool(model.fields.get("is_default")) for model in models) > 1:
        raise InvalidPresets(f"{place}: more than one model has is_default.")
    return models


def _model(row: Any, use: str, place: str) -> ModelPreset:
    _must_be_object(row, place)
    name = _text(row, "name", place)
    place = f"{place} ({name})"
    fields = {key: value for key, value in row.items() if key != "name"}
    typed = _typed(fields, MODEL_FIELDS[use], place)
    if use == "embeddings" and "dimensions" not in typed:
        raise InvalidPresets(f"{place}.dimensions: is missing.")
    if typed.get("shape", SHAPES[0]) not in SHAPES:
        raise InvalidPresets(f"{place}.shape: must be one of {', '.join(SHAPES)}.")
    return ModelPreset(use, name, typed)


def _typed(fields: Mapping[str, Any], types: Mapping[str, type], place: str) -> dict[str, Any]:
    typed = {}
    for key, value in fields.items():
        if key not in types:
            raise InvalidPresets(f"{place}.{key}: is not a field; there are {', '.join(types)}.")
        typed[key] = _value(value, types[key], f"{place}.{key}")
    return typed


def _value(value: Any, wanted: type, place: str) -> Any:
    if wanted is Decimal:
        return _price(value, place)
    # bool is a subclass of int, and `true` is no number of tokens.
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise InvalidPresets(f"{place}: {value!r} must be {_NAMES[wanted]}.")
    if isinstance(value, int) and value < 0:
        raise InvalidPresets(f"{place}: {value} must not be negative.")
    return value


def _price(value: Any, place: str) -> Decimal:
    try:
        price = Decimal(value) if isinstance(value, str) else None
    except InvalidOperation:
        price = None
    if price is None or not price.is_finite() or price < 0:
        raise InvalidPresets(f'{place}: {value!r} must be a price in quotes, such as "0.25".')
    return price


_NAMES = {str: "a text in quotes", int: "a whole number", bool: "true or false"}


def _text(row: Mapping[str, Any], key: str, place: str) -> str:
    value = row.get(key)
    if not isinstance(value, str) or not value.strip():
        raise InvalidPresets(f"{place}.{key}: is missing or not a text.")
    return value


def _must_be_object(row: Any, place: str) -> None:
    if not isinstance(row, dict):
        raise InvalidPresets(f"{place}: must be an object.")


def _refuse_repeats(names: list[str], place: str, field: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InvalidPresets(f"{place}: {field} {name!r} stands there twice.")
