"""What every REST view of the chat has: its user, and refusals as answers."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from rest_framework.response import Response
from rest_framework.views import APIView

from chat.core.asking import Refused


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
