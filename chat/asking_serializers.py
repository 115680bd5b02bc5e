"""Shapes of what helps to ask, in the REST API."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group
from rest_framework import serializers

from chat.core.asking import clean_text
from chat.known_keys import KnownKeys
from chat.models import PromptPreset
from chat.presets import gaps_of


class PresetSerializer(KnownKeys, serializers.ModelSerializer[PromptPreset]):
    """A preset; `gaps` are the values that calling it asks for."""

    gaps = serializers.SerializerMethodField()
    is_own = serializers.SerializerMethodField()

    class Meta:
        model = PromptPreset
        fields = ["id", "name", "title", "text", "group", "gaps", "is_own", "updated"]
        read_only_fields = ["id", "updated"]

    def get_fields(self) -> dict[str, Any]:
        """A preset is shared with a group of its owner alone."""
        fields = super().get_fields()
        user = self.context.get("user")  # none while the schema is made
        fields["group"] = serializers.SlugRelatedField(
            slug_field="name",
            queryset=Group.objects.filter(user=user.pk) if user else Group.objects.none(),
            required=False,
            allow_null=True,
        )
        return fields

    def get_gaps(self, preset: PromptPreset) -> list[dict[str, str]]:
        return [{"name": gap.name, "default": gap.default} for gap in gaps_of(preset)]

    def get_is_own(self, preset: PromptPreset) -> bool:
        return bool(preset.owner_id == self.context["user"].pk)

    def validate_text(self, value: str) -> str:
        return clean_text(value).strip()
