"""Database work of asynchronous code: in a thread of its own, its connection given back.

By default all asynchronous code of a process shares one database thread, so that twenty
sockets wait for each other. And an answer takes a minute of which the database works a
few milliseconds: a run that kept its connection meanwhile would empty the pool.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import ParamSpec, TypeVar

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.db import connections

P = ParamSpec("P")
R = TypeVar("R")


async def in_database(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """What `work` returns, run in a thread; its connection is given back afterwards."""

    def run() -> R:
        try:
            return work(*args, **kwargs)
        finally:
            connections.close_all()

    return await sync_to_async(run, thread_sensitive=True)()


@asynccontextmanager
async def own_database_thread() -> AsyncIterator[None]:
    """Database work inside the block shares a thread with nobody else."""
    async with ThreadSensitiveContext():
        try:
            yield
        finally:
            await release_connection()


async def release_connection() -> None:
    """Give back the connection that asynchronous ORM calls of this context opened."""
    await sync_to_async(connections.close_all, thread_sensitive=True)()
