"""The latest message of a conversation as a question that stands alone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from django.utils.translation import gettext as _

from providers.core.errors import ProviderError
from providers.core.replies import WholeReply
from providers.core.types import ChatMessage, ChatRequest
from providers.models import ChatModel, UsageRecord
from providers.registry import chat_provider
from providers.usage import arecord_usage
from retrieval.core.condensing import (
    REPLY_TOKENS,
    SYSTEM_PROMPT,
    Condensed,
    condense_prompt,
    read_reply,
    stand_alone,
)
from retrieval.core.types import Knobs

# The reader waits for this before anything is searched.
CONDENSE_SECONDS = 12.0


async def condense(
    question: str,
    *,
    history: Sequence[ChatMessage],
    knobs: Knobs,
    model: ChatModel | None = None,
    user_id: int | None = None,
) -> Condensed:
    """What to search for. Never raises ProviderError: without a usable reply of `model`,
    the message itself is searched, with the previous question where it leans on it."""
    if not history:
        return Condensed(question)
    if model is None or model.provider.kind == "extractive":
        return stand_alone(question, history)
    try:
        reply = await _ask(model, question, history=history, user_id=user_id)
    except ProviderError as error:
        return _without_model(question, history, str(error))
    except TimeoutError:
        return _without_model(question, history, _("it did not answer in time"))
    condensed = read_reply(reply, alternates=knobs.alternates)
    if condensed is None:
        return _without_model(question, history, _("its reply was no search query"))
    return condensed


async def _ask(
    model: ChatModel, question: str, *, history: Sequence[ChatMessage], user_id: int | None
) -> str:
    """The model's whole reply. Raises ProviderError, TimeoutError."""
    request = ChatRequest(
        model=model.name,
        system=SYSTEM_PROMPT,
        messages=(ChatMessage("user", condense_prompt(question, history)),),
        max_output_tokens=REPLY_TOKENS,
        context_window=model.context_window,
    )
    started = time.monotonic()
    reply, failure = WholeReply(), ""
    try:
        provider = chat_provider(model, user_id=user_id)
        return await reply.read(provider, request, seconds=CONDENSE_SECONDS)
    except ProviderError as error:
        failure = error.code
        raise
    except TimeoutError:
        failure = "silent"
        raise
    finally:
        await arecord_usage(
            purpose=UsageRecord.Purpose.CONDENSE,
            model=model,
            usage=reply.usage,
            user_id=user_id,
            milliseconds=round((time.monotonic() - started) * 1000),
            failed_with=failure,
        )


def _without_model(question: str, history: Sequence[ChatMessage], why: str) -> Condensed:
    plain = stand_alone(question, history)
    said = _("The question was not rewritten: %(why)s.") % {"why": why.rstrip(".")}
    return replace(plain, notice=" ".join(filter(None, (said, plain.notice))))
