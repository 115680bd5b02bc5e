"""Database work of asynchronous code: beside each other, and nothing held."""

from __future__ import annotations

import asyncio
import threading

import pytest
from django.db import connection

from chat.database import in_database, own_database_thread

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


def thread_and_value(value: int) -> tuple[int, int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s", [value])
        return threading.get_ident(), cursor.fetchone()[0]


def is_connected() -> bool:
    return connection.connection is not None


async def test_work_is_done_elsewhere_and_its_connection_given_back() -> None:
    async with own_database_thread():
        thread, value = await in_database(thread_and_value, 7)
        assert value == 7
        assert thread != threading.get_ident()
        assert not await in_database(is_connected)


async def test_an_error_comes_back_and_gives_the_connection_back() -> None:
    def fail() -> None:
        thread_and_value(1)
        raise LookupError("no")

    async with own_database_thread():
        with pytest.raises(LookupError):
            await in_database(fail)
        assert not await in_database(is_connected)


async def test_two_runs_do_not_wait_for_each_other() -> None:
    both = threading.Barrier(2, timeout=60)

    def meet() -> int:
        both.wait()  # broken, and so an error, if one waited for the other's thread
        return threading.get_ident()

    async def run() -> int:
        async with own_database_thread():
            return await in_database(meet)

    first, second = await asyncio.gather(run(), run())
    assert first != second
