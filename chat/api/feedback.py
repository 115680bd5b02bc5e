"""REST of what follows an answer: thumbs, what to ask next, unanswered questions."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from chat.api.answering import ChatView
from chat.feedback import LONGEST_COMMENT, Thumb, give_feedback, make_golden, withdraw_feedback
from chat.follow_ups import asked_follow_ups
from chat.known_keys import KnownKeys
from chat.models import Feedback, UnansweredQuestion
from chat.presenters.after import UnansweredRow, unanswered_rows
from chat.providing import site_providing
from chat.shapes import (
    FollowUpsSerializer,
    GoldensSerializer,
    UnansweredListSerializer,
    UnansweredSerializer,
)
from chat.unanswered import close, reopen, unanswered_in
from vault.access import editable_vault

MOST_ROWS = 200


class ThumbSerializer(KnownKeys, serializers.Serializer[Thumb]):
    """What a reader says of an answer."""

    is_helpful = serializers.BooleanField()
    reason = serializers.ChoiceField(
        Feedback.Reason.choices, required=False, default="", allow_blank=True
    )
    comment = serializers.CharField(
        max_length=LONGEST_COMMENT, required=False, default="", allow_blank=True
    )
    shares_question = serializers.BooleanField(required=False, default=False)


class StateSerializer(KnownKeys, serializers.Serializer[UnansweredQuestion]):
    """What becomes of an unanswered question."""

    state = serializers.ChoiceField(["open", "closed"], required=False, default="closed")


class FeedbackView(ChatView):
    """The user's thumb on an answer."""

    @extend_schema(request=ThumbSerializer, responses=ThumbSerializer)
    def put(self, request: Request, conversation: UUID, message: UUID) -> Response:
        """Give it, or change it."""
        sent = ThumbSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        thumb = Thumb(**sent.validated_data)
        kept = give_feedback(self.user, conversation, message, thumb)
        names = ("is_helpful", "reason", "comment", "shares_question")
        return Response({name: getattr(kept, name) for name in names})

    @extend_schema(responses={204: None})
    def delete(self, request: Request, conversation: UUID, message: UUID) -> Response:
        """Take it back."""
        withdraw_feedback(self.user, conversation, message)
        return Response(status=204)


class GoldenView(ChatView):
    """The question of an answer as a golden one."""

    @extend_schema(request=None, responses={201: GoldensSerializer})
    def post(self, request: Request, conversation: UUID, message: UUID) -> Response:
        """Keep it, for each vault that the user may edit and the answer cites."""
        made = make_golden(self.user, conversation, message)
        rows = [{"id": question.pk, "vault": question.vault.slug} for question in made]
        return Response({"results": rows}, status=201)


class FollowUpsView(ChatView):
    """What to ask next."""

    @extend_schema(responses=FollowUpsSerializer)
    def get(self, request: Request, conversation: UUID, message: UUID) -> Response:
        """At most three questions; none when the user switched them off."""
        found = asked_follow_ups(self.user, conversation, message, site_providing())
        return Response({"questions": list(found)})


class UnansweredView(ChatView):
    """What readers asked and a vault does not say."""

    @extend_schema(
        parameters=[
            OpenApiParameter("state", OpenApiTypes.STR, enum=UnansweredQuestion.State.values)
        ],
        responses=UnansweredListSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        """For those who may edit the vault; the open ones unless `state` says otherwise."""
        vault = editable_vault(self.user, slug)
        found = unanswered_in(self.user, vault).filter(
            state=request.query_params.get("state", "open")
        )
        rows = unanswered_rows(self.user, list(found[:MOST_ROWS]))
        return Response({"results": [_row_json(row) for row in rows]})


class EndUnansweredView(ChatView):
    """One unanswered question."""

    @extend_schema(request=StateSerializer, responses=UnansweredSerializer)
    def post(self, request: Request, slug: str, question: int) -> Response:
        """Ask it again and close it; `{"state": "open"}` takes a closing back."""
        vault = editable_vault(self.user, slug)
        sent = StateSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        if sent.validated_data["state"] == UnansweredQuestion.State.OPEN:
            found = reopen(self.user, vault, question)
        else:
            found = close(self.user, vault, question, site_providing())
        if found is None:
            raise NotFound
        return Response(_row_json(unanswered_rows(self.user, [found])[0]))


def _row_json(row: UnansweredRow) -> dict[str, Any]:
    question = row.question
    return {
        "id": question.pk,
        "question": question.question,
        "cause": question.cause,
        "state": question.state,
        "asked": question.asked,
        "last_asked": question.last_asked,
        "nearest": [note.path for note in row.nearest],
        "answered_by": [note.path for note in row.answered_by],
    }
