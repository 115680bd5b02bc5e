"""Shapes of the chat's REST API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from chat.core.asking import clean_text
from chat.models import ChatSettings, Conversation, Persona
from chat.personas import persona_for


class ConversationSerializer(serializers.ModelSerializer[Conversation]):
    """A conversation in a list. Only the title and the vaults can be changed."""

    title = serializers.CharField(max_length=200, required=False, allow_blank=True)
    vaults = serializers.ListField(
        child=serializers.CharField(max_length=60),
        required=False,
        allow_null=True,
        help_text="slugs; null: all readable vaults",
    )

    class Meta:
        model = Conversation
        fields = ["id", "title", "vaults", "created", "updated"]
        read_only_fields = ["id", "created", "updated"]

    def validate_title(self, value: str) -> str:
        return " ".join(clean_text(value).split())

    def update(self, instance: Conversation, validated_data: dict[str, Any]) -> Conversation:
        if validated_data.get("title"):
            instance.title_is_final = True
        return super().update(instance, validated_data)


class ChatSettingsSerializer(serializers.ModelSerializer[ChatSettings]):
    """A user's settings. Null or an empty text: the site's choice."""

    class Meta:
        model = ChatSettings
        fields = [
            "model",
            "persona",
            "system_prompt",
            "mode",
            "passages",
            "alternates",
            "rerank",
            "follow_ups",
            "shares_unanswered",
        ]

    def validate_persona(self, value: Persona | None) -> Persona | None:
        """A persona that the user may choose; the same words for missing and hidden ones."""
        if value is not None and persona_for(self.context["user"], value.pk) is None:
            raise serializers.ValidationError("There is no such persona.")
        return value

    def validate_system_prompt(self, value: str) -> str:
        if len(value) > 20_000:
            raise serializers.ValidationError("The prompt has more than 20,000 characters.")
        return clean_text(value)
