"""REST of sharing, and of conversations as files."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from chat import sharing
from chat.api.answering import ChatView
from chat.core.asking import BadAsk, check_keys
from chat.core.sharing import parse_share
from chat.exporting import export_all, export_conversation
from chat.history import own_conversation
from chat.importing import import_file
from chat.models import ShareLink
from chat.presenters.files import KINDS, exported_file, zip_of
from chat.presenters.sharing import LinkRow, link_rows
from chat.serializers import ShareSerializer
from chat.shapes import (
    CopiedSerializer,
    ImportedSerializer,
    LinkSerializer,
    LinksSerializer,
    SharedSerializer,
)


class SharesView(ChatView):
    """Everything the user shares."""

    @extend_schema(operation_id="shares", responses=LinksSerializer)
    def get(self, request: Request) -> Response:
        """Newest first. `state` is empty while a link opens."""
        mine = ShareLink.objects.owned_by(self.user).select_related("conversation", "message")
        rows = link_rows(
            mine.prefetch_related("users", "groups")[: sharing.MOST_LINKS], request._request
        )
        return Response({"results": [_row(row) for row in rows]})


class ConversationSharesView(ChatView):
    """Links to one conversation."""

    @extend_schema(request=ShareSerializer, responses={201: LinkSerializer})
    def post(self, request: Request, conversation: UUID) -> Response:
        """Share it up to `message` (null: the end of the branch shown), or that answer alone."""
        if not isinstance(request.data, dict):
            raise BadAsk("The body must be a JSON object.")
        # A slip in a key would share with more people, or for longer, than was meant.
        check_keys(map(str, request.data), known=ShareSerializer().fields)
        link = sharing.make_link(self.user, conversation, parse_share(request.data))
        return Response(_row(link_rows([link], request._request)[0]), status=201)


class ShareView(ChatView):
    """One link that the user made."""

    @extend_schema(responses={204: None})
    def delete(self, request: Request, link: UUID) -> Response:
        """Take it back: it opens nothing from now on."""
        sharing.revoke(sharing.own_link(self.user, link))
        return Response(status=204)


class RestoreShareView(ChatView):
    """Let a link that was taken back open again, until it expires."""

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request, link: UUID) -> Response:
        sharing.restore_link(sharing.own_link(self.user, link))
        return Response(status=204)


class SharedView(ChatView):
    """What is shared with the user."""

    @extend_schema(operation_id="shared", responses=SharedSerializer)
    def get(self, request: Request, token: str) -> Response:
        """Its messages, less what rests on vaults the user may not read (`withheld`)."""
        shared = sharing.open_link(self.user, token)
        return Response(
            {
                "title": shared.title,
                "shared_by": shared.link.owner.email or shared.link.owner.get_username(),
                "created": shared.link.created,
                "expires": shared.link.expires,
                "messages": shared.messages,
            }
        )


class ContinueView(ChatView):
    """Go on from what is shared."""

    @extend_schema(request=None, responses={201: CopiedSerializer})
    def post(self, request: Request, token: str) -> Response:
        """Copy what the user may read into a conversation of their own: its `id`."""
        copied = sharing.continue_link(self.user, token)
        return Response({"id": str(copied.pk), "title": copied.title}, status=201)


class ExportView(ChatView):
    """One conversation as a file."""

    @extend_schema(
        parameters=[OpenApiParameter("as", OpenApiTypes.STR, enum=KINDS)],
        responses={(200, "text/markdown"): OpenApiTypes.STR},
    )
    def get(self, request: Request, conversation: UUID) -> HttpResponseBase:
        found = own_conversation(self.user, conversation)
        exported = export_conversation(self.user, found)
        return exported_file(exported, request.query_params.get("as", ""))


class ExportAllView(ChatView):
    """Everything in a zip: JSON to be imported, Markdown to be read."""

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY})
    def get(self, request: Request) -> HttpResponseBase:
        return zip_of(export_all(self.user))


class ImportView(ChatView):
    """Conversations from a file that was exported here."""

    parser_classes = (MultiPartParser,)

    @extend_schema(
        request={
            "multipart/form-data": {
                "type": "object",
                "properties": {"file": {"type": "string", "format": "binary"}},
            }
        },
        responses=ImportedSerializer,
    )
    def post(self, request: Request) -> Response:
        """`file` is the JSON or the zip. Twice the same adds nothing twice."""
        sent = request.FILES.get("file")
        if sent is None:
            raise BadAsk("Send the file as “file” of a multipart form.")
        report = import_file(self.user, sent.read())
        return Response(
            {
                "added": report.added,
                "known": report.known,
                "withheld": report.withheld,
                "restored": report.restored,
            }
        )


def _row(row: LinkRow) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "title": row.title,
        "audience": row.audience,
        "url": row.address,
        "created": row.created,
        "expires": row.expires,
        "state": row.state,
    }
