"""Conversations, the answers being written in them, and what they were written from."""

from __future__ import annotations

from chat.models.choices import AnswerMode, ChatSettings, Persona
from chat.models.conversations import Conversation, Message, Source
from chat.models.runs import Run, RunEvent

__all__ = [
    "AnswerMode",
    "ChatSettings",
    "Conversation",
    "Message",
    "Persona",
    "Run",
    "RunEvent",
    "Source",
]
