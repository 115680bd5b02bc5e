"""REST of the chat, but for the streams (sse.py), by what it is about."""

from __future__ import annotations

from chat.api.answering import ChatView

__all__ = ["ChatView"]
