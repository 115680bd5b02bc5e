"""How many tokens a text has when the tokenizer is out of reach."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

from providers.core.types import ChatRequest, Usage

# Characters per token, measured with the vocabulary of multilingual-e5: English 3.5,
# Russian 3.1, code 2.3, Chinese 1.1. The estimate takes the lower end of each group, so
# that it errs on the side of too many.
_LATIN = 3.0
_OTHER_ALPHABET = 2.3
_IDEOGRAPH = 1.0
_FIRST_IDEOGRAPH = 0x2E80


def estimate_tokens(text: str) -> int:
    """Tokens of `text`, rather too many than too few. 0 for an empty text."""
    ascii_count = sum(1 for char in text if char < "\x80")
    wide = sum(1 for char in text if ord(char) >= _FIRST_IDEOGRAPH)
    other = len(text) - ascii_count - wide
    return math.ceil(ascii_count / _LATIN + other / _OTHER_ALPHABET + wide / _IDEOGRAPH)


def estimate_usage(request: ChatRequest, written: Iterable[str]) -> Usage:
    """What a call used whose provider said nothing of it, or that ended before it could."""
    asked = [request.system]
    for message in request.messages:
        asked += [message.content, *(call.arguments for call in message.calls)]
    asked += [f"{it.name} {it.description} {json.dumps(it.schema)}" for it in request.tools]
    return Usage(
        input_tokens=sum(map(estimate_tokens, asked)),
        output_tokens=estimate_tokens("".join(written)),
        is_reported=False,
    )
