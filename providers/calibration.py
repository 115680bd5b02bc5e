"""Keeps for each chat model what its calls taught: how its tokenizer counts, compared with
the estimate, and that it cannot call tools."""

from __future__ import annotations

import math
from collections.abc import Callable

import structlog
from django.db import DatabaseError, InterfaceError

from providers.core.calibration import LOWEST, next_factor
from providers.core.tokens import estimate_tokens, estimate_usage
from providers.core.types import ChatRequest, Usage
from providers.models import ChatModel

# Smaller changes than this are not worth a write at the end of every answer.
_WORTH_KEEPING = 0.002
log = structlog.get_logger("providers.calibration")


def counter_for(model: ChatModel) -> Callable[[str], int]:
    """Counts the tokens of a text as this model would, as far as is known."""
    factor = model.token_factor

    def count(text: str) -> int:
        return math.ceil(estimate_tokens(text) * factor)

    return count


def learn_no_tools(model: ChatModel) -> None:
    """Keep that the model refused a request with tools, so that the next one has none."""
    try:
        ChatModel.objects.filter(pk=model.pk).update(can_call_tools=False)
    except (DatabaseError, InterfaceError) as error:
        log.warning("refusal_of_tools_not_kept", error=type(error).__name__)


def learn_from(model: ChatModel, request: ChatRequest, usage: Usage) -> None:
    """Take what the provider counted into the model's factor.

    A database that is away for a moment costs the lesson, never the answer.
    """
    if not usage.is_reported:
        return
    # Ollama counts no cached tokens, and cuts a prompt that is too long without a word.
    lowest = 1.0 if model.provider.kind == "ollama" else LOWEST
    try:
        row = ChatModel.objects.filter(pk=model.pk).only("token_factor").first()
        if row is None:
            return
        factor = next_factor(
            row.token_factor,
            estimated=estimate_usage(request, ()).input_tokens,
            reported=usage.input_tokens,
            lowest=lowest,
        )
        if abs(factor - row.token_factor) >= _WORTH_KEEPING:
            ChatModel.objects.filter(pk=model.pk).update(token_factor=factor)
    except (DatabaseError, InterfaceError) as error:
        log.warning("calibration_not_kept", error=type(error).__name__)
