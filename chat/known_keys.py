"""Serializers that refuse what they do not know, where a slip would else do nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from chat.core.asking import BadAsk, check_keys


class KnownKeys(serializers.BaseSerializer[Any]):
    """Refuses keys of no field. What reading gives may be sent back: it changes nothing.

    `echoed` are keys that reading gives and that are no field.
    """

    echoed: tuple[str, ...] = ()

    def to_internal_value(self, data: Any) -> Any:
        fields: Any = self.fields  # type: ignore[attr-defined]
        if isinstance(data, Mapping):
            try:
                check_keys(map(str, data), known=(*fields, *self.echoed))
            except BadAsk as error:
                raise serializers.ValidationError({"non_field_errors": [str(error)]}) from error
        return super().to_internal_value(data)
