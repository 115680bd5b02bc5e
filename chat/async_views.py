"""Asynchronous views of the API: what a stream needs, which REST framework has none for.

Sessions need a CSRF token, personal tokens do not.
"""

from __future__ import annotations

import json
from typing import Any, cast

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.views import APIView

from chat.core.asking import BadAsk, Refused
from chat.database import in_database
from chat.rights import Caller, caller_of_session
from chat.runs import SignedOut
from vault.tokens import find_token

LARGEST_BODY = 100_000
SIGN_IN = "Sign in, or send a valid token."


class AsyncView(APIView):
    """Finds out who calls, and turns refusals into answers. Handlers are coroutines.

    A view of REST framework, so that the description of the API finds it.
    """

    most_bytes = LARGEST_BODY

    async def dispatch(  # type: ignore[override]
        self, request: HttpRequest, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        handler = getattr(self, (request.method or "").lower(), None)
        if handler is None or request.method == "OPTIONS":
            return self._not_allowed(request)
        try:
            caller = await in_database(caller_of, request)
            return cast("HttpResponseBase", await handler(request, caller, **kwargs))
        except Refused as refusal:
            return self.problem(refusal.status, refusal.code, str(refusal))
        except SignedOut:
            response = self.problem(401, "not_authenticated", SIGN_IN)
            response["WWW-Authenticate"] = "Bearer"
            return response

    def problem(self, status: int, code: str, text: str) -> HttpResponseBase:
        """A refusal as this API says it."""
        return JsonResponse({"code": code, "detail": text}, status=status)

    def body_of(self, request: HttpRequest) -> dict[str, Any]:
        """The JSON object that was sent. Raises Refused."""
        if len(request.body) > self.most_bytes:
            raise Refused("too_large", f"Send at most {self.most_bytes:,} bytes.", status=413)
        try:
            body = json.loads(request.body or b"{}")
        except (ValueError, RecursionError) as error:
            raise BadAsk("The body is not JSON.") from error
        if not isinstance(body, dict):
            raise BadAsk("The body must be a JSON object.")
        return body

    def _not_allowed(self, request: HttpRequest) -> HttpResponseBase:
        allowed = [name.upper() for name in ("get", "post") if hasattr(self, name)]
        text = f"This address takes {' or '.join(allowed)}, not {request.method}."
        response = self.problem(405, "method_not_allowed", text)
        response["Allow"] = ", ".join(allowed)
        return response


def caller_of(request: HttpRequest) -> Caller:
    """Who asks, by token or by session. Raises SignedOut, Refused."""
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        token = find_token(value.strip())
        if token is None:
            raise SignedOut
        return Caller(user_id=token.user_id, token_id=token.pk)
    caller = caller_of_session(request.session, request.user)
    if caller is None:
        raise SignedOut
    if request.method != "GET":
        try:
            SessionAuthentication().enforce_csrf(cast("Request", request))
        except PermissionDenied as error:
            raise Refused("csrf", str(error.detail), status=403) from error
    return caller
