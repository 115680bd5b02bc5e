"""News between processes: heard in time, and without harm when not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID, uuid4

import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from django.db import connections, transaction

from chat.notify import Bridge, tell
from tests.chat.world import PATIENCE

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


class Listener:
    """A bridge, and what it was told to stop."""

    def __init__(self) -> None:
        self.stopped: asyncio.Queue[UUID] = asyncio.Queue()
        self.bridge = Bridge(on_stop=self.stopped.put_nowait)

    async def stopped_run(self) -> UUID:
        async with asyncio.timeout(PATIENCE):
            return await self.stopped.get()


@pytest_asyncio.fixture
async def listener(transactional_db: None) -> AsyncIterator[Listener]:
    listener = Listener()
    listener.bridge.start()
    async with asyncio.timeout(PATIENCE):
        await listener.bridge.listening.wait()
    yield listener
    await listener.bridge.stop()
    await sync_to_async(connections.close_all)()


async def rung(bell: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(PATIENCE):
            return await bell.wait()
    except TimeoutError:
        return False


async def test_news_wake_who_waits_for_that_run_alone(listener: Listener) -> None:
    run, other = uuid4(), uuid4()
    with listener.bridge.bell(run) as mine, listener.bridge.bell(other) as theirs:
        await sync_to_async(tell)([run])
        assert await rung(mine)
        assert not theirs.is_set()


async def test_a_wish_to_stop_reaches_the_process_that_writes(listener: Listener) -> None:
    run = uuid4()
    await sync_to_async(tell)([run], stop=True)
    assert await listener.stopped_run() == run


async def test_news_leave_with_the_commit_and_not_without(listener: Listener) -> None:
    kept, dropped = uuid4(), uuid4()

    def roll_back() -> None:
        try:
            with transaction.atomic():
                tell([dropped], stop=True)
                raise LookupError
        except LookupError:
            pass
        tell([kept], stop=True)

    await sync_to_async(roll_back)()
    assert await listener.stopped_run() == kept
    assert listener.stopped.empty()


async def test_a_lost_connection_is_made_anew_and_wakes_everybody(listener: Listener) -> None:
    run = uuid4()

    def cut() -> None:
        with connections["default"].cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE query LIKE 'LISTEN%%' AND datname = current_database()"
            )

    with listener.bridge.bell(run) as bell:
        bell.clear()
        await sync_to_async(cut)()
        assert await rung(bell), "something may have been said meanwhile"
        await sync_to_async(tell)([run], stop=True)
        assert await listener.stopped_run() == run


async def test_starting_twice_listens_once(listener: Listener) -> None:
    listener.bridge.start()
    run = uuid4()
    await sync_to_async(tell)([run], stop=True)
    assert await listener.stopped_run() == run
    await sync_to_async(tell)([uuid4()])
    assert listener.stopped.empty()


async def test_a_bell_that_nobody_holds_is_forgotten(listener: Listener) -> None:
    run = uuid4()
    with listener.bridge.bell(run), listener.bridge.bell(run):
        assert len(listener.bridge._bells[run]) == 2
    assert run not in listener.bridge._bells
