"""The addresses that stream, asked by each of four people: what they read is committed."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import AsyncClient
from django.urls import reverse

from chat.runs import runs_here
from tests.architecture.permissions import PEOPLE, STREAMS, Row
from tests.architecture.things import World, make_world
from tests.cast import make_cast


@pytest.fixture
def committed_world(transactional_db: None) -> World:
    return make_world(make_cast())


@pytest.mark.django_db(transaction=True)
@pytest.mark.asyncio
@pytest.mark.parametrize("row", STREAMS, ids=str)
async def test_each_person_gets_what_the_table_says_of_a_stream(
    row: Row, committed_world: World
) -> None:
    url = reverse(row.name, kwargs=row.kwargs(committed_world))
    for who, expected in zip(PEOPLE, row.expected, strict=True):
        if expected is None:
            continue
        client = AsyncClient()
        if who != "anonymous":
            await client.aforce_login(getattr(committed_world.cast, who))
        options = {"content_type": "application/json"} if row.method == "post" else {}
        reply = await getattr(client, row.method)(url, data=row.data, **options)
        assert reply.status_code == expected, who
    await runs_here().drain(0)
    await sync_to_async(connections.close_all)()
