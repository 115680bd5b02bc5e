"""What every template knows."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, object]:
    """Whether chat is mounted."""
    return {"chat_is_on": "chat" in settings.MODULES}
