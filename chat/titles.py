"""The title a model gives a conversation after its first answer."""

from __future__ import annotations

import structlog
from django.db import DatabaseError, InterfaceError, transaction

from chat.core.events import RunIds
from chat.core.titles import TITLE_PROMPT, title_from_model, title_from_question
from chat.database import in_database
from chat.models import Conversation, Message
from chat.notify import tell
from chat.providing import Providing
from chat.small_calls import small_call
from providers.models import ChatModel

EXCERPT = 1500
log = structlog.get_logger("chat.titles")


async def make_title(
    model: ChatModel, providing: Providing, *, question: str, user_id: int
) -> str | None:
    """A title for a conversation that began with `question`; None when none came out.

    It is made without the answer, so that no title outlives the right to read a vault.
    """
    said = await small_call(
        model,
        providing,
        system=TITLE_PROMPT,
        asked=f"Question: {question[:EXCERPT]}",
        purpose="title",
        user_id=user_id,
    )
    return None if said is None else title_from_model(said)


async def name_conversation(
    ids: RunIds, model: ChatModel, providing: Providing, *, question: str, user_id: int
) -> None:
    """Let `model` name the conversation of a first question, and tell who follows the run."""
    made = await make_title(model, providing, question=question, user_id=user_id)
    if made is None:
        return
    try:
        await in_database(save_title, ids, made)
    except (DatabaseError, InterfaceError) as error:
        log.warning("title_not_saved", error=type(error).__name__)


def save_title(ids: RunIds, title: str) -> None:
    """Set the title, unless the owner gave one, with news of the run that led to it."""
    unnamed = Conversation.objects.filter(pk=ids.conversation, title_is_final=False)
    with transaction.atomic():
        if unnamed.update(title=title):
            tell([ids.run])


def read_title(ids: RunIds) -> tuple[str, bool]:
    """The conversation's title after its first answer, and whether a model may still give one.

    An empty title: this answer is not the first, or the conversation is gone.
    """
    answer = (
        Message.objects.filter(pk=ids.message, parent__parent=None)
        .select_related("conversation", "parent")
        .first()
    )
    if answer is None or answer.parent is None:
        return "", False
    title = answer.conversation.title
    is_awaited = title == title_from_question(answer.parent.text)
    return title, is_awaited and not answer.conversation.title_is_final
