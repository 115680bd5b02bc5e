"""A table that is held: while it is, no search ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg

from tests.live import database_url


@asynccontextmanager
async def no_search_ends() -> AsyncIterator[psycopg.AsyncConnection[Any]]:
    """While this lasts, every search waits for a table."""
    async with await psycopg.AsyncConnection.connect(database_url()) as holder:
        await holder.execute("LOCK TABLE vault_chunk IN ACCESS EXCLUSIVE MODE")
        yield holder


async def wait_for_another_search(holder: psycopg.AsyncConnection[Any], before: int = 0) -> int:
    """Until more than `before` questions wait for the locked table; how many do."""
    waiting = (
        "SELECT count(*) FROM pg_locks WHERE relation = 'vault_chunk'::regclass AND NOT granted"
    )
    async with asyncio.timeout(90):
        while True:
            row = await (await holder.execute(waiting)).fetchone()
            if row is not None and row[0] > before:
                return int(row[0])
            await asyncio.sleep(0.02)
