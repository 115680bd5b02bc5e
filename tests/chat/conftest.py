"""Fixtures of the chat's tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

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
from tests.live import LiveProduct

Pair = tuple[LiveProduct, LiveProduct]


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


@pytest.fixture(scope="module")
def started(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    """Two web processes on one database."""
    pair = (LiveProduct(tmp_path_factory.mktemp("a")), LiveProduct(tmp_path_factory.mktemp("b")))
    with django_db_blocker.unblock():
        yield pair
        for product in pair:
            product.stop()


def start_those_that_ended(products: Sequence[LiveProduct]) -> None:
    ended = [product for product in products if "serve" not in product.processes]
    with ThreadPoolExecutor() as threads:
        list(threads.map(lambda product: product.start("serve"), ended))


@pytest.fixture
def servers(started: Pair) -> Pair:
    """Both of them up, whichever an earlier test has ended."""
    start_those_that_ended(started)
    return started


@pytest.fixture
def server(started: Pair) -> LiveProduct:
    """The first of them up; the other one may be down."""
    start_those_that_ended(started[:1])
    return started[0]
