"""Answers and the queue of jobs do not wait for each other."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async

from chat.core.asking import Ask
from chat.models import Message
from tests.cast import Cast
from tests.chat.world import World, caller
from vault.models import Job

QUEUED = 5_000


@pytest.mark.django_db(transaction=True)
@pytest.mark.asyncio
async def test_a_question_waits_for_none_of_five_thousand_jobs(world: World, people: Cast) -> None:
    await Job.objects.abulk_create(
        Job(kind="embed", key=f"embed:{number}", vault_id=people.vault.pk)
        for number in range(QUEUED)
    )
    me = await sync_to_async(caller)(people.owner)
    turn = await world.runs.start(Ask(text="When did the pump fail?"), caller=me)
    events = [event async for event in world.runs.follow(turn.ids.run)]
    assert events[-1].type == "done"
    assert (await Message.objects.aget(pk=turn.ids.message)).status == "done"
    assert await Job.objects.filter(state=Job.State.QUEUED, attempts=0).acount() == QUEUED
    assert await Job.objects.acount() == QUEUED, "an answer is no job"
