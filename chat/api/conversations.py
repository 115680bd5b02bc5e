"""REST of conversations, of the settings, and of stopping an answer."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from chat.api.answering import ChatView
from chat.choosable import Choosable
from chat.core.asking import BadAsk
from chat.core.moments import moment_in
from chat.history import own_conversation, own_message_run
from chat.ledger import end_abandoned, want_stop
from chat.models import ChatSettings, Conversation, Folder
from chat.offers import site_catalogue
from chat.options import chat_options, settings_json
from chat.organising import (
    choose_branch,
    delete_folder,
    keep_only_branch,
    make_folder,
    own_folder,
    put_away,
    rename_folder,
    restore,
)
from chat.searching import find_messages
from chat.serializers import ChatSettingsSerializer, ConversationSerializer, FolderSerializer
from chat.shapes import (
    ConversationsSerializer,
    DeletedSerializer,
    FoldersSerializer,
    MessageHitsSerializer,
    OptionsSerializer,
    OwnSettingsSerializer,
    ThreadSerializer,
)
from chat.tasks import request_sweep
from chat.threads import thread

PAGE = 100


class OptionsView(ChatView):
    """What may be chosen for a question."""

    @extend_schema(responses=OptionsSerializer)
    def get(self, request: Request) -> Response:
        return Response(chat_options(Choosable(self.user), site_catalogue()))


class SettingsView(ChatView):
    """The user's own settings."""

    @extend_schema(responses=OwnSettingsSerializer)
    def get(self, request: Request) -> Response:
        return Response(settings_json(Choosable(self.user)))

    @extend_schema(request=ChatSettingsSerializer, responses=OwnSettingsSerializer)
    def put(self, request: Request) -> Response:
        """Replace them; what is left out is not chosen."""
        serializer = ChatSettingsSerializer(data=request.data, context={"user": self.user})
        serializer.is_valid(raise_exception=True)
        choices = ("model", "persona", "passages", "alternates", "rerank", "tool_steps")
        blank = dict.fromkeys((*choices, "adds_sources", "shares_unanswered"))
        chosen = {
            **blank,
            "system_prompt": "",
            "mode": "",
            "follow_ups": "",
            "tool_use": "",
            **serializer.validated_data,
        }
        ChatSettings.objects.update_or_create(user=self.user, defaults=chosen)
        return Response(settings_json(Choosable(self.user)))


class ConversationsView(ChatView):
    """The user's conversations."""

    @extend_schema(
        parameters=[
            OpenApiParameter("before", OpenApiTypes.DATETIME, description="updated before this"),
            OpenApiParameter("folder", OpenApiTypes.INT, description="those in this folder"),
            OpenApiParameter("archived", OpenApiTypes.BOOL, description="the archive instead"),
            OpenApiParameter("pinned", OpenApiTypes.BOOL, description="pinned ones alone"),
        ],
        operation_id="conversations",
        responses=ConversationsSerializer,
    )
    def get(self, request: Request) -> Response:
        """Newest first, a hundred at a time; `next` is `before` of the next page.

        Temporary ones are in no list.
        """
        end_abandoned_of(self.user)
        conversations = self._asked_for(request)
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

    @extend_schema(
        request=ConversationSerializer,
        responses={201: ConversationSerializer},
        examples=[OpenApiExample("For a day", value={"temporary": True}, request_only=True)],
    )
    def post(self, request: Request) -> Response:
        """Begin one. A `temporary` one is in no list, and is deleted after a day."""
        serializer = ConversationSerializer(data=request.data, context={"request": request})
        serializer.is_valid(raise_exception=True)
        named = bool(serializer.validated_data.get("title"))
        made = serializer.save(owner=self.user, title_is_final=named)
        if made.temporary:
            request_sweep()
        return Response(serializer.data, status=201)

    def _asked_for(self, request: Request) -> QuerySet[Conversation]:
        asked = request.query_params
        found = Conversation.objects.owned_by(self.user).listed()
        found = found.filter(archived=_is_true(asked.get("archived")))
        if "folder" in asked:
            found = found.filter(folder=own_folder(self.user, asked["folder"]))
        return found.filter(pinned=True) if _is_true(asked.get("pinned")) else found


class ConversationView(ChatView):
    """One conversation with its messages."""

    @extend_schema(operation_id="conversation", responses=ThreadSerializer)
    def get(self, request: Request, conversation: UUID) -> Response:
        found = own_conversation(self.user, conversation)
        messages = thread(found, self.user)
        return Response({**ConversationSerializer(found).data, "messages": messages})

    @extend_schema(request=ConversationSerializer, responses=ConversationSerializer)
    def patch(self, request: Request, conversation: UUID) -> Response:
        """Rename it, file it, pin, archive or keep it; choose its vaults or its branch."""
        found = own_conversation(self.user, conversation)
        serializer = ConversationSerializer(
            found, data=request.data, partial=True, context={"request": request}
        )
        serializer.is_valid(raise_exception=True)
        leaf = serializer.validated_data.pop("leaf", None)
        if serializer.validated_data.get("temporary"):
            raise BadAsk("A conversation that is kept cannot be made temporary: delete it.")
        if leaf is not None:
            choose_branch(found, leaf)
        serializer.save()
        found.refresh_from_db()
        return Response(ConversationSerializer(found).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, conversation: UUID) -> Response:
        """Delete it; an answer that is being written in it stops. For a day it can be restored."""
        put_away(own_conversation(self.user, conversation))
        request_sweep()
        return Response(status=204)


class RestoreView(ChatView):
    """Bring back what was deleted less than a day ago."""

    @extend_schema(request=None, responses=ConversationSerializer)
    def post(self, request: Request, conversation: UUID) -> Response:
        return Response(ConversationSerializer(restore(self.user, conversation)).data)


class KeepBranchView(ChatView):
    """Delete every branch but the one that is shown."""

    @extend_schema(request=None, responses=DeletedSerializer)
    def post(self, request: Request, conversation: UUID) -> Response:
        """`deleted`: how many messages that were."""
        return Response({"deleted": keep_only_branch(self.user, conversation)})


class MessageSearchView(ChatView):
    """Search in one's own titles and messages."""

    @extend_schema(
        parameters=[OpenApiParameter("q", OpenApiTypes.STR, required=True)],
        responses=MessageHitsSerializer,
    )
    def get(self, request: Request) -> Response:
        """`message` is null where the title has it; `excerpt` marks what was looked for."""
        hits = find_messages(self.user, request.query_params.get("q", ""))
        rows = [
            {
                "conversation": str(hit.conversation.pk),
                "title": str(hit.conversation),
                "updated": hit.conversation.updated,
                "message": str(hit.message) if hit.message else None,
                "excerpt": [
                    {"text": text, "found": is_found} for text, is_found in hit.excerpt.marked
                ],
            }
            for hit in hits
        ]
        return Response({"results": rows})


class FoldersView(ChatView):
    """The user's folders."""

    @extend_schema(operation_id="folders", responses=FoldersSerializer)
    def get(self, request: Request) -> Response:
        folders = Folder.objects.owned_by(self.user)
        return Response({"results": FolderSerializer(folders, many=True).data})

    @extend_schema(request=FolderSerializer, responses={201: FolderSerializer})
    def post(self, request: Request) -> Response:
        """Make one, or get the one that has this name."""
        made = make_folder(self.user, _name(request))
        return Response(FolderSerializer(made).data, status=201)


class FolderView(ChatView):
    """One folder."""

    @extend_schema(request=FolderSerializer, responses=FolderSerializer)
    def patch(self, request: Request, folder: int) -> Response:
        """Rename it."""
        found = own_folder(self.user, folder)
        rename_folder(found, _name(request))
        return Response(FolderSerializer(own_folder(self.user, folder)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, folder: int) -> Response:
        """Delete it; its conversations stay."""
        delete_folder(own_folder(self.user, folder))
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


def _name(request: Request) -> str:
    serializer = FolderSerializer(data=request.data)
    serializer.is_valid(raise_exception=True)
    return str(serializer.validated_data["name"])


def _is_true(value: str | None) -> bool:
    return (value or "").lower() in {"1", "true"}


def _moment(text: str) -> datetime:
    try:
        return moment_in(text)
    except ValueError as error:
        raise ValidationError({"before": f"It {error}, as in “updated”."}) from error
