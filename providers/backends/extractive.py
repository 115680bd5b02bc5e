"""The backend without a model: quotes the passages themselves."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence

from providers.backends.local_e5 import BUNDLED, is_loaded
from providers.core.errors import BadRequest
from providers.core.extractive import compose_answer
from providers.core.quotes import Candidate, candidates_for, nearer, shortlist
from providers.core.tokens import estimate_tokens
from providers.core.types import (
    ChatRequest,
    Endpoint,
    Grounding,
    StreamPart,
    TextDelta,
    Usage,
)

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
        answer = await _answer(request.grounding)
        for piece in _PIECE.findall(answer):
            yield TextDelta(piece)
            # Lets the reader's socket send what is there and a cancellation arrive.
            await asyncio.sleep(0)
        yield Usage(0, estimate_tokens(answer), "end")


async def _answer(grounding: Grounding) -> str:
    candidates = await asyncio.to_thread(candidates_for, grounding)
    candidates = await by_meaning(grounding.question, candidates)
    return await asyncio.to_thread(compose_answer, grounding, candidates)


async def by_meaning(question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The best of `candidates`, compared with the question by the bundled embedder as well.

    Only where search has loaded that model already: nobody waits or pays memory for it
    here. Elsewhere words alone decide.
    """
    short = shortlist(candidates)
    if len(short) < 2 or not is_loaded():
        return list(candidates)
    query = await BUNDLED.embed_statements([question])
    told = await BUNDLED.embed_passages([each.text for each in short])
    return nearer(short, [float(cosine) for cosine in told @ query[0]])
