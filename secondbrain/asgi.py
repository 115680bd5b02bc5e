"""HTTP and websockets of one process."""

from __future__ import annotations

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import OriginValidator
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "secondbrain.settings")
http = get_asgi_application()

from django.conf import settings  # noqa: E402

from secondbrain.mcp_http import with_mcp  # noqa: E402


def websocket_routes() -> list[object]:
    """Socket routes of the mounted modules."""
    if "chat" not in settings.MODULES:
        return []
    from chat.routing import websocket_urlpatterns

    return list(websocket_urlpatterns)


application = ProtocolTypeRouter(
    {
        "http": with_mcp(http),
        "websocket": OriginValidator(
            AuthMiddlewareStack(URLRouter(websocket_routes())), settings.ALLOWED_ORIGINS
        ),
    }
)
