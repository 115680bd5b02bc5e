"""REST of the steps of an answer."""

from __future__ import annotations

from uuid import UUID

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from chat.api.answering import ChatView
from chat.history import own_answer
from chat.steps import DECISIONS, decide

_DECISION = inline_serializer(
    "StepDecision", {"decision": serializers.ChoiceField(choices=list(DECISIONS))}
)


class StepView(ChatView):
    """A further search that waits for its reader."""

    @extend_schema(request=_DECISION, responses={202: None})
    def post(self, request: Request, conversation: UUID, message: UUID, step: int) -> Response:
        """Allow or refuse it; its `tool` event follows. 409 when it does not wait any more."""
        answer = own_answer(self.user, conversation, message)
        sent = request.data if isinstance(request.data, dict) else {}
        decide(answer, step, sent.get("decision"))
        return Response(status=202)
