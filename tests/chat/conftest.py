"""Fixtures of the chat's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from django.db import connections

from chat.runs import Runs, install_runs
from providers.testing import FakeChat
from tests.cast import Cast, make_cast
from tests.chat.world import (
    QUICK,
    FixedRetrieval,
    World,
    make_model,
    make_passage,
    make_providing,
)


@pytest.fixture
def fake_chat() -> Iterator[type[FakeChat]]:
    """The fake model's class, with nothing queued."""
    FakeChat.reset()
    yield FakeChat
    FakeChat.reset()


@pytest.fixture
def people(transactional_db: None) -> Cast:
    """The cast, committed: other connections see it."""
    return make_cast()


@pytest_asyncio.fixture
async def world(people: Cast, fake_chat: type[FakeChat]) -> AsyncIterator[World]:
    """One process with one fake model and one passage in the team's vault."""
    model = await sync_to_async(make_model)("cite")
    passage = await sync_to_async(make_passage)(people.vault)
    retrieval = FixedRetrieval((passage,))
    runs = install_runs(Runs(make_providing(retrieval), pace=QUICK))
    yield World(model, retrieval, runs)
    await runs.drain(0)
    await sync_to_async(connections.close_all)()


@pytest_asyncio.fixture
async def other(world: World) -> AsyncIterator[Runs]:
    """The runs of a second process on the same database."""
    runs = Runs(make_providing(world.retrieval), pace=QUICK)
    yield runs
    await runs.drain(0)
