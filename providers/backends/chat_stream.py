"""What every model server's stream goes through: patience, retries, an honest end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING

from providers.backends.retries import MOST_RETRIES, pause_before_retry
from providers.core.answers import Answer, Stopped, WirePart
from providers.core.errors import ProviderError, Silent
from providers.core.tool_calls import CallDelta
from providers.core.types import ChatRequest, ReasoningDelta, StreamPart, TextDelta, TimeLimits

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

# After the stop reason only the token figures are still to come.
_GRACE = 2.0

OpenWire = Callable[[], "AsyncGenerator[WirePart | None, None]"]
"""Makes one call and yields what its wire says; None is a sign of life without content."""


async def stream_answer(
    open_wire: OpenWire, request: ChatRequest, *, limits: TimeLimits
) -> AsyncIterator[StreamPart]:
    """The parts of one answer, ending with its Usage.

    At most two retries before the first content, none after it: the reader would see text
    twice. Raises ProviderError. Closing the iterator closes the wire.
    """
    for attempt in range(MOST_RETRIES + 1):
        answer = Answer(request)
        try:
            async with aclosing(_one_attempt(open_wire, answer, limits)) as parts:
                async for part in parts:
                    yield part
            return
        except ProviderError as error:
            pause = pause_before_retry(error, attempt, limits)
            if answer.has_content or pause is None:
                raise
        await asyncio.sleep(pause)


async def _one_attempt(
    open_wire: OpenWire, answer: Answer, limits: TimeLimits
) -> AsyncGenerator[StreamPart, None]:
    failure: ProviderError | None = None
    async with aclosing(open_wire()) as wire:
        try:
            async with aclosing(_patiently(wire, answer, limits)) as heard:
                async for part in heard:
                    for piece in answer.feed(part):
                        yield piece
                    if answer.is_full:
                        break
        except ProviderError as error:
            failure = error
    for piece in answer.flush():
        yield piece
    # What fails after the stop reason no longer matters: the answer is whole.
    if failure is not None and answer.stop_reason is None:
        raise failure
    usage = answer.usage()
    for call in answer.calls():
        yield call
    yield usage


async def _patiently(
    wire: AsyncGenerator[WirePart | None, None], answer: Answer, limits: TimeLimits
) -> AsyncGenerator[WirePart, None]:
    """What the wire says, as long as content keeps coming. Raises Silent.

    Keep-alives do not count: they have kept clients waiting for ever. The time a slow
    reader takes does not count against the server.
    """
    clock = asyncio.get_running_loop().time
    patience = limits.first_content
    deadline = clock() + patience
    while True:
        try:
            async with asyncio.timeout_at(deadline):
                part = await anext(wire)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise Silent(f"No text came for {patience:g} seconds.") from None
        if part is None:
            continue
        yield part
        if isinstance(part, Stopped):
            patience = min(_GRACE, limits.between_content)
            deadline = clock() + patience
        elif _is_content(part):
            patience = limits.between_content
            deadline = clock() + patience


def _is_content(part: WirePart) -> bool:
    if isinstance(part, CallDelta):
        return True
    return isinstance(part, TextDelta | ReasoningDelta) and bool(part.text)
