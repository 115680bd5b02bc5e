"""REST of what helps to ask: completion and prompt presets."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.db import IntegrityError, transaction
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from chat.api.answering import ChatView
from chat.asking_serializers import PresetSerializer
from chat.completion import KINDS, offers_for
from chat.models import PromptPreset
from chat.presets import own_preset, presets_for, usable_preset
from chat.shapes import OfferedListSerializer, PresetsSerializer


class CompletionView(ChatView):
    """What the question field may offer."""

    @extend_schema(
        parameters=[
            OpenApiParameter("kind", OpenApiTypes.STR, required=True, enum=KINDS),
            OpenApiParameter("q", OpenApiTypes.STR, description="what was typed of it"),
            OpenApiParameter(
                "vault", OpenApiTypes.STR, many=True, description="slugs; none: all readable ones"
            ),
        ],
        responses=OfferedListSerializer,
    )
    def get(self, request: Request) -> Response:
        """A few presets, personas, tags, folders or notes that the user may see."""
        asked = request.query_params
        try:
            found = offers_for(
                asked.get("kind", ""),
                asked.get("q", ""),
                self.user,
                vaults=asked.getlist("vault") or None,
            )
        except ValueError as error:
            raise ValidationError({"kind": str(error)}) from error
        return Response({"results": [asdict(each) for each in found]})


class PresetsView(ChatView):
    """The presets that the user may call."""

    @extend_schema(operation_id="presets", responses=PresetsSerializer)
    def get(self, request: Request) -> Response:
        found = PresetSerializer(presets_for(self.user), many=True, context={"user": self.user})
        return Response({"results": found.data})

    @extend_schema(request=PresetSerializer, responses={201: PresetSerializer})
    def post(self, request: Request) -> Response:
        """Make one of the user's own."""
        return Response(_saved(self.user, request.data), status=201)


class PresetView(ChatView):
    """One preset."""

    @extend_schema(responses=PresetSerializer)
    def get(self, request: Request, preset: int) -> Response:
        found = usable_preset(self.user, preset)
        return Response(PresetSerializer(found, context={"user": self.user}).data)

    @extend_schema(request=PresetSerializer, responses=PresetSerializer)
    def patch(self, request: Request, preset: int) -> Response:
        """Change one of the user's own."""
        return Response(_saved(self.user, request.data, own_preset(self.user, preset)))

    @extend_schema(responses={204: None})
    def delete(self, request: Request, preset: int) -> Response:
        own_preset(self.user, preset).delete()
        return Response(status=204)


def _saved(user: Any, data: Any, preset: PromptPreset | None = None) -> Any:
    serializer = PresetSerializer(
        preset, data=data, partial=preset is not None, context={"user": user}
    )
    serializer.is_valid(raise_exception=True)
    try:
        with transaction.atomic():
            serializer.save(owner=user)
    except IntegrityError as error:
        raise ValidationError({"name": "You have a preset of that name already."}) from error
    return serializer.data
