"""Sign-in of scripts: `Authorization: Bearer <token>`."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from vault.models import ApiToken
from vault.tokens import find_token


class TokenAuthentication(BaseAuthentication):
    """A personal token stands for its user, for as long as the user is active."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _, value = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = find_token(value.strip())
        if token is None:
            raise AuthenticationFailed("This token is not valid. Make a new one.")
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The same for the API's description, which finds it by being imported."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        made_by = "A personal token: `manage.py create_token EMAIL` makes one."
        return {"type": "http", "scheme": "bearer", "description": made_by}
