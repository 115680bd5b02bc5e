"""Shapes of the chat's REST API."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers

from chat.core.asking import clean_text
from chat.core.sharing import AUDIENCES, DEFAULT_DAYS, MOST_DAYS
from chat.known_keys import KnownKeys
from chat.models import ChatSettings, Conversation, Folder, Persona
from chat.personas import persona_for
from retrieval.forms import Unreadable, check_vaults


class OwnFolderField(serializers.PrimaryKeyRelatedField[Folder]):
    """A folder of who asks; those of others are as if they were not."""

    def get_queryset(self) -> QuerySet[Folder]:
        request = self.context.get("request")
        return Folder.objects.owned_by(request.user) if request else Folder.objects.none()


class ConversationSerializer(KnownKeys, serializers.ModelSerializer[Conversation]):
    """A conversation in a list. `leaf` names a message of the branch that is shown."""

    title = serializers.CharField(max_length=200, required=False, allow_blank=True)
    vaults = serializers.ListField(
        child=serializers.CharField(max_length=60),
        required=False,
        allow_null=True,
        help_text="slugs; null: all readable vaults",
    )

    folder = OwnFolderField(required=False, allow_null=True)
    leaf = serializers.UUIDField(required=False, allow_null=True)

    class Meta:
        model = Conversation
        fields = [
            "id",
            "title",
            "vaults",
            "folder",
            "pinned",
            "archived",
            "temporary",
            "leaf",
            "created",
            "updated",
        ]
        read_only_fields = ["id", "created", "updated"]

    def validate_vaults(self, value: list[str] | None) -> list[str] | None:
        """Vaults that the user may read, or that the conversation has already."""
        kept = (self.instance.vaults if isinstance(self.instance, Conversation) else None) or ()
        slugs = dict.fromkeys(clean_text(slug) for slug in value or ())
        try:
            check_vaults(self.context["request"].user, [it for it in slugs if it not in kept])
        except Unreadable as error:
            raise serializers.ValidationError(str(error)) from error
        return None if value is None else list(slugs)

    def validate_title(self, value: str) -> str:
        return " ".join(clean_text(value).split())

    def update(self, instance: Conversation, validated_data: dict[str, Any]) -> Conversation:
        """Only a question or an answer makes a conversation newer."""
        if validated_data.get("title"):
            validated_data["title_is_final"] = True
        if validated_data:
            Conversation.objects.filter(pk=instance.pk).update(**validated_data)
        return instance


class FolderSerializer(KnownKeys, serializers.ModelSerializer[Folder]):
    """A folder of conversations."""

    class Meta:
        model = Folder
        fields = ["id", "name", "created"]
        read_only_fields = ["id", "created"]


class ShareSerializer(KnownKeys, serializers.Serializer[Any]):
    """What to share, with whom, and for how many days."""

    message = serializers.UUIDField(required=False, allow_null=True)
    only_answer = serializers.BooleanField(required=False)
    audience = serializers.ChoiceField(choices=AUDIENCES, required=False)
    names = serializers.ListField(child=serializers.CharField(), required=False)
    days = serializers.IntegerField(
        min_value=1, max_value=MOST_DAYS, default=DEFAULT_DAYS, required=False
    )


class ChatSettingsSerializer(KnownKeys, serializers.ModelSerializer[ChatSettings]):
    """A user's settings. Null or an empty text: the site's choice."""

    echoed = ("base_system_prompt", "vaults")

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
            "adds_sources",
            "follow_ups",
            "shares_unanswered",
            "tool_use",
            "tool_steps",
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
