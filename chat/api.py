"""REST of the chat, but for the streams (sse.py): conversations, settings, stop."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.utils.dateparse import parse_datetime
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from chat.core.asking import Refused
from chat.history import own_conversation, own_message_run
from chat.ledger import end_abandoned, want_stop
from chat.models import ChatSettings, Conversation
from chat.offers import site_catalogue
from chat.options import chat_options, settings_json
from chat.runs import delete_conversation
from chat.serializers import ChatSettingsSerializer, ConversationSerializer
from chat.threads import thread

PAGE = 100


class ChatView(APIView):
    """Turns a refusal into its status; missing and foreign look the same."""

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, Refused):
            return Response({"code": exc.code, "detail": str(exc)}, status=exc.status)
        return super().handle_exception(exc)

    @property
    def user(self) -> User:
        user: Any = self.request.user
        return user  # type: ignore[no-any-return]


class OptionsView(ChatView):
    """What may be chosen for a question."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        return Response(chat_options(self.user, site_catalogue()))


class SettingsView(ChatView):
    """The user's own settings."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        return Response(settings_json(self.user))

    @extend_schema(request=ChatSettingsSerializer, responses=OpenApiTypes.OBJECT)
    def put(self, request: Request) -> Response:
        """Replace them; what is left out is not chosen."""
        serializer = ChatSettingsSerializer(data=request.data, context={"user": self.user})
        serializer.is_valid(raise_exception=True)
        blank = dict.fromkeys(
            ("model", "persona", "passages", "alternates", "rerank", "shares_unanswered")
        )
        chosen = {
            **blank,
            "system_prompt": "",
            "mode": "",
            "follow_ups": "",
            **serializer.validated_data,
        }
        ChatSettings.objects.update_or_create(user=self.user, defaults=chosen)
        return Response(settings_json(self.user))


class ConversationsView(ChatView):
    """The user's conversations."""

    @extend_schema(
        parameters=[
            OpenApiParameter("before", OpenApiTypes.DATETIME, description="updated before this")
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request) -> Response:
        """Newest first, a hundred at a time; `next` is `before` of the next page."""
        end_abandoned_of(self.user)
        conversations = Conversation.objects.owned_by(self.user)
        if before := request.query_params.get("before"):
            conversations = conversations.filter(updated__lt=_moment(before))
        page = list(conversations[: PAGE + 1])
        running = set(
            Conversation.objects.owned_by(self.user)
            .filter(runs__state="active")
            .values_list("pk", flat=True)
        )
        rows = [{**ConversationSerializer(c).data, "running": c.pk in running} for c in page[:PAGE]]
        return Response(
            {"results": rows, "next": rows[-1]["updated"] if len(page) > PAGE else None}
        )

    @extend_schema(request=ConversationSerializer, responses={201: ConversationSerializer})
    def post(self, request: Request) -> Response:
        serializer = ConversationSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        named = bool(serializer.validated_data.get("title"))
        serializer.save(owner=self.user, title_is_final=named)
        return Response(serializer.data, status=201)


class ConversationView(ChatView):
    """One conversation with its messages."""

    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, conversation: UUID) -> Response:
        found = own_conversation(self.user, conversation)
        messages = thread(found, self.user)
        return Response({**ConversationSerializer(found).data, "messages": messages})

    @extend_schema(request=ConversationSerializer, responses=ConversationSerializer)
    def patch(self, request: Request, conversation: UUID) -> Response:
        """Rename it, or choose its vaults."""
        found = own_conversation(self.user, conversation)
        serializer = ConversationSerializer(found, data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        serializer.save()
        return Response(serializer.data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, conversation: UUID) -> Response:
        """Delete it; an answer that is being written in it stops."""
        delete_conversation(own_conversation(self.user, conversation))
        return Response(status=204)


class StopView(ChatView):
    """Stop an answer that is being written."""

    @extend_schema(request=None, responses={202: None})
    def post(self, request: Request, conversation: UUID, message: UUID) -> Response:
        """Accepted at once; the stream ends with `stopped` unless it has ended before."""
        want_stop(own_message_run(self.user, conversation, message).run)
        return Response(status=202)


def end_abandoned_of(user: User) -> None:
    """Answers of `user` that a dead process left get their end."""
    owned = Conversation.objects.owned_by(user)
    end_abandoned(owned.filter(runs__state="active").values_list("runs__pk", flat=True))


def _moment(text: str) -> Any:
    try:
        moment = parse_datetime(text)
    except ValueError:
        moment = None
    if moment is None:
        raise ValidationError({"before": "An ISO date and time, as in “updated”."})
    return moment
