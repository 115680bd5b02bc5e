"""The title a model gives a conversation after its first answer."""

from __future__ import annotations

import asyncio
import time
from uuid import UUID

import structlog
from django.db import DatabaseError, InterfaceError

from chat.core.titles import TITLE_PROMPT, title_from_model
from chat.models import Conversation
from chat.providing import Providing
from providers.core.errors import ProviderError
from providers.core.types import ChatMessage, ChatRequest, TextDelta, Usage, Withdrawal
from providers.models import ChatModel

# The answer is complete while its title is made: the reader must not wait long.
MOST_SECONDS = 8.0
# Reasoning models spend tokens before the first word of a title.
MOST_TOKENS = 400
EXCERPT = 1500
log = structlog.get_logger("chat.titles")


async def make_title(
    model: ChatModel, providing: Providing, *, question: str, user_id: int
) -> str | None:
    """A title for a conversation that began with `question`; None when none came out.

    It is made without the answer, so that no title outlives the right to read a vault.
    """
    request = ChatRequest(
        model=model.name,
        system=TITLE_PROMPT,
        messages=(ChatMessage("user", f"Question: {question[:EXCERPT]}"),),
        max_output_tokens=MOST_TOKENS,
        context_window=model.context_window,
    )
    began, usage, failed_with, text = time.monotonic(), Usage(), "", ""
    try:
        async with asyncio.timeout(MOST_SECONDS):
            provider = providing.chat_provider(model, user_id=user_id)
            async for part in provider.stream(request):
                if isinstance(part, TextDelta):
                    text += part.text
                elif isinstance(part, Withdrawal):
                    text = ""
                elif isinstance(part, Usage):
                    usage = part
    except TimeoutError:
        failed_with = "silent"
    except ProviderError as error:
        failed_with = error.code
    if failed_with:
        log.info("no_title", model=model.name, failed_with=failed_with)
    await providing.keep_usage(
        "title", model, usage, user_id=user_id, began=began, code=failed_with
    )
    return None if failed_with else title_from_model(text)


def save_title(conversation_id: UUID, title: str | None) -> bool:
    """Set the title, unless there is none or the owner gave one. False: left alone."""
    if title is None:
        return False
    unnamed = Conversation.objects.filter(pk=conversation_id, title_is_final=False)
    try:
        return bool(unnamed.update(title=title))
    except (DatabaseError, InterfaceError) as error:
        log.warning("title_not_saved", error=type(error).__name__)
        return False
