"""Personal tokens for scripts: 256 random bits, kept as a hash."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from vault.models import ApiToken

PREFIX = "sb_"
# A script that asks a hundred times a second needs no hundred writes of one row.
WRITTEN_EVERY = timedelta(minutes=1)


def create_token(user: User, *, name: str = "") -> str:
    """Make a token for `user` and return it: the only time it can be seen."""
    value = PREFIX + secrets.token_urlsafe(32)
    ApiToken.objects.create(user=user, name=name, digest=_digest(value))
    return value


def find_token(value: str) -> ApiToken | None:
    """The token row of `value`, when its user is active. Notes the minute it was last used."""
    token = ApiToken.objects.select_related("user").filter(digest=_digest(value)).first()
    if token is None or not token.user.is_active:
        return None
    now = timezone.now()
    if token.last_used is None or token.last_used < now - WRITTEN_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used=now)
    return token


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()
