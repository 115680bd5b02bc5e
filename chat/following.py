"""A run followed on somebody's behalf: their rights are asked again every second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from chat.core.events import Event, RunIds
from chat.endings import rights_lost_after
from chat.rights import Caller
from chat.runs import SignedOut, runs_here

CHECK_EVERY = 1.0


async def follow_as(caller: Caller, ids: RunIds, *, after: int = 0) -> AsyncGenerator[Event | None]:
    """Events with seq > `after` to the end of the run, and None for each second without one.

    Ends with an error event when the caller may not read the answer any more. Raises
    SignedOut when they may do nothing here any more.
    """
    checked_at = time.monotonic()
    async with aclosing(runs_here().follow(ids.run, after=after)) as followed:
        coming: asyncio.Task[Event | None] = asyncio.create_task(_next(followed))
        try:
            while True:
                done, _ = await asyncio.wait({coming}, timeout=CHECK_EVERY)
                if time.monotonic() - checked_at >= CHECK_EVERY:
                    checked_at = time.monotonic()
                    may = await runs_here().permission_of(caller, (ids.message,))
                    if not may.is_signed_in:
                        raise SignedOut
                    if may.lost:
                        yield rights_lost_after(after)
                        return
                if not done:
                    yield None
                    continue
                event = coming.result()
                if event is None:
                    return
                after = event.seq
                yield event
                coming = asyncio.create_task(_next(followed))
        finally:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)


async def _next(followed: AsyncGenerator[Event]) -> Event | None:
    return await anext(followed, None)
