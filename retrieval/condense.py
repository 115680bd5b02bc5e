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
    WORDINGS_PROMPT,
    Condensed,
    condense_prompt,
    is_broad,
    other_wordings,
    read_reply,
    stand_alone,
)
from retrieval.core.types import Knobs

# The reader waits for this before anything is searched.
CONDENSE_SECONDS = 12.0
# A first question can be searched as it is: other wordings are worth a shorter wait.
WORDINGS_SECONDS = 4.0


async def condense(
    question: str,
    *,
    history: Sequence[ChatMessage],
    knobs: Knobs,
    model: ChatModel | None = None,
    user_id: int | None = None,
) -> Condensed:
    """What to search for. Never raises ProviderError: without a usable reply of `model`,
    the message itself is searched, with the previous question where it leans on it.

    A first question is searched as it was asked; where it is broad and `knobs` have
    alternates, the model is asked for other wordings of it.
    """
    if model is None or model.provider.kind == "extractive":
        return stand_alone(question, history)
    if history:
        return await _rewritten(question, history, knobs=knobs, model=model, user_id=user_id)
    if knobs.alternates and is_broad(question):
        return await _with_wordings(question, model=model, user_id=user_id)
    return Condensed(question)


async def _rewritten(
    question: str,
    history: Sequence[ChatMessage],
    *,
    knobs: Knobs,
    model: ChatModel,
    user_id: int | None,
) -> Condensed:
    """A follow-up as a question that stands alone."""
    request = _request(model, SYSTEM_PROMPT, condense_prompt(question, history))
    try:
        reply = await _ask(model, request, seconds=CONDENSE_SECONDS, user_id=user_id)
    except ProviderError as error:
        return _without_model(question, history, str(error))
    except TimeoutError:
        return _without_model(question, history, _("it did not answer in time"))
    condensed = read_reply(reply, alternates=knobs.alternates)
    if condensed is None:
        return _without_model(question, history, _("its reply was no search query"))
    return condensed


async def _with_wordings(question: str, *, model: ChatModel, user_id: int | None) -> Condensed:
    """A first question with other wordings of it, where the model has some in time."""
    request = _request(model, WORDINGS_PROMPT, question)
    try:
        reply = await _ask(model, request, seconds=WORDINGS_SECONDS, user_id=user_id)
    except ProviderError as error:
        why = str(error)
    except TimeoutError:
        why = _("it did not answer in time")
    else:
        return other_wordings(question, reply)
    said = _("No other wordings were searched: %(why)s.") % {"why": why.rstrip(".")}
    return Condensed(question, notice=said)


def _request(model: ChatModel, system: str, text: str) -> ChatRequest:
    return ChatRequest(
        model=model.name,
        system=system,
        messages=(ChatMessage("user", text),),
        max_output_tokens=REPLY_TOKENS,
        context_window=model.context_window,
    )


async def _ask(
    model: ChatModel, request: ChatRequest, *, seconds: float, user_id: int | None
) -> str:
    """The model's whole reply. Raises ProviderError, TimeoutError."""
    started = time.monotonic()
    reply, failure = WholeReply(), ""
    try:
        provider = chat_provider(model, user_id=user_id)
        return await reply.read(provider, request, seconds=seconds)
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
