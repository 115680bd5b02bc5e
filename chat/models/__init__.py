"""Conversations, the answers being written in them, and what they were written from."""

from __future__ import annotations

from chat.models.asking import PromptPreset
from chat.models.choices import AnswerMode, ChatSettings, FollowUps, Persona, ToolUse
from chat.models.conversations import Conversation, Folder, Message, Source
from chat.models.feedback import Feedback, UnansweredQuestion
from chat.models.runs import Run, RunEvent
from chat.models.sharing import ShareLink
from chat.models.steps import Step

__all__ = [
    "AnswerMode",
    "ChatSettings",
    "Conversation",
    "Feedback",
    "Folder",
    "FollowUps",
    "Message",
    "Persona",
    "PromptPreset",
    "Run",
    "RunEvent",
    "ShareLink",
    "Source",
    "Step",
    "ToolUse",
    "UnansweredQuestion",
]
