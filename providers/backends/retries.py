"""How often a failed call is tried again, and after how long."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from providers.core.errors import Overloaded, ProviderError, RateLimited, Unreachable
from providers.core.types import TimeLimits

MOST_RETRIES = 2
LONGEST_WAIT = 10.0
"""Seconds a Retry-After may ask for; a longer one is told to the reader instead."""

Result = TypeVar("Result")


async def with_retries(call: Callable[[], Awaitable[Result]], *, limits: TimeLimits) -> Result:
    """The result of `call`, tried at most three times. Raises its last ProviderError."""
    attempt = 0
    while True:
        try:
            return await call()
        except ProviderError as error:
            pause = pause_before_retry(error, attempt, limits)
            if pause is None:
                raise
        await asyncio.sleep(pause)
        attempt += 1


def pause_before_retry(error: ProviderError, attempt: int, limits: TimeLimits) -> float | None:
    """Seconds to wait before the next try; None when there should be none."""
    if attempt >= MOST_RETRIES or not isinstance(error, RateLimited | Overloaded | Unreachable):
        return None
    if error.retry_after is None:
        return limits.retry_pause * (attempt + 1)
    return error.retry_after if error.retry_after <= LONGEST_WAIT else None
