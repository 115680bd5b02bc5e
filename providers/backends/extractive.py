"""The backend without a model: quotes the passages themselves."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

from providers.core.errors import BadRequest
from providers.core.extractive import compose_answer
from providers.core.tokens import estimate_tokens
from providers.core.types import ChatRequest, Endpoint, StreamPart, TextDelta, Usage

# A few words at a time, so that a reader sees the same kind of stream as from a model.
_PIECE = re.compile(r"(?:\s*\S+){1,6}\s*|\s+", re.DOTALL)


class Extractive:
    """Answers from `request.grounding` alone; costs nothing and needs no network."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamPart]:
        if request.grounding is None:
            raise BadRequest(
                "Without notes and without a language model there is nothing to write an answer "
                "from.",
                mend="Choose a mode with notes, or another model.",
            )
        answer = await asyncio.to_thread(compose_answer, request.grounding)
        for piece in _PIECE.findall(answer):
            yield TextDelta(piece)
            # Lets the reader's socket send what is there and a cancellation arrive.
            await asyncio.sleep(0)
        yield Usage(0, estimate_tokens(answer), "end")
