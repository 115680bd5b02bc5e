"""How often a call is tried again, and how long a reader waits for that."""

from __future__ import annotations

import time

import pytest

from providers.backends.retries import pause_before_retry, with_retries
from providers.core.errors import (
    BadRequest,
    CutOff,
    Overloaded,
    ProtocolError,
    ProviderError,
    RateLimited,
    Silent,
    Unreachable,
)
from providers.core.types import TimeLimits

LIMITS = TimeLimits(retry_pause=0.5)


@pytest.mark.parametrize(
    ("error", "attempt", "pause"),
    [
        (Overloaded("x"), 0, 0.5),
        (Overloaded("x"), 1, 1.0),
        (Overloaded("x"), 2, None),
        (Unreachable("x"), 0, 0.5),
        (RateLimited("x", retry_after=7.0), 0, 7.0),
        (RateLimited("x", retry_after=10.0), 1, 10.0),
        (RateLimited("x", retry_after=10.5), 0, None),
        (BadRequest("x"), 0, None),
        (ProtocolError("x"), 0, None),
        (CutOff("x"), 0, None),
        (Silent("x"), 0, None),
    ],
)
def test_pauses(error: ProviderError, attempt: int, pause: float | None) -> None:
    assert pause_before_retry(error, attempt, LIMITS) == pause


def test_all_pauses_together_are_short() -> None:
    longest = [pause_before_retry(RateLimited("x", retry_after=10.0), n, LIMITS) for n in range(3)]
    assert sum(pause or 0 for pause in longest) <= 20


@pytest.mark.asyncio
async def test_the_result_of_a_later_try_is_given() -> None:
    failures: list[ProviderError] = [Overloaded("one"), Unreachable("two")]

    async def call() -> str:
        if failures:
            raise failures.pop(0)
        return "done"

    began = time.monotonic()
    assert await with_retries(call, limits=TimeLimits(retry_pause=0.01)) == "done"
    assert time.monotonic() - began >= 0.03


@pytest.mark.asyncio
async def test_the_third_failure_is_the_last() -> None:
    calls = 0

    async def call() -> None:
        nonlocal calls
        calls += 1
        raise Overloaded(f"failure {calls}")

    with pytest.raises(Overloaded, match="failure 3"):
        await with_retries(call, limits=TimeLimits(retry_pause=0.001))
    assert calls == 3
