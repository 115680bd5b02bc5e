"""Small calls to a model beside the answer: bounded in time, never worth a failure."""

from __future__ import annotations

import time

import structlog

from chat.providing import Providing
from providers.core.errors import ProviderError
from providers.core.replies import WholeReply
from providers.core.types import ChatMessage, ChatRequest
from providers.models import ChatModel

MOST_SECONDS = 8.0
# Reasoning models spend tokens before the first word that counts.
MOST_TOKENS = 400
log = structlog.get_logger("chat.small_calls")


async def small_call(
    model: ChatModel, providing: Providing, *, system: str, asked: str, purpose: str, user_id: int
) -> str | None:
    """What `model` says to `asked` within MOST_SECONDS; None when it failed or was too slow.

    The call is recorded under `purpose` however it ends.
    """
    request = ChatRequest(
        model=model.name,
        system=system,
        messages=(ChatMessage("user", asked),),
        max_output_tokens=MOST_TOKENS,
        context_window=model.context_window,
    )
    began, reply, failed_with = time.monotonic(), WholeReply(), ""
    try:
        provider = providing.chat_provider(model, user_id=user_id)
        await reply.read(provider, request, seconds=MOST_SECONDS)
    except TimeoutError:
        failed_with = "silent"
    except ProviderError as error:
        failed_with = error.code
    if failed_with:
        log.info("small_call_failed", purpose=purpose, model=model.name, failed_with=failed_with)
    await providing.keep_usage(
        purpose, model, reply.usage, user_id=user_id, began=began, code=failed_with
    )
    return None if failed_with else reply.text
