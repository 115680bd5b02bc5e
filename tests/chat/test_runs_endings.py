"""What ends a run, or does not: dead processes, lost rights, a database that goes away."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.db.models.functions import Now

from chat.core.asking import Ask, Refused
from chat.models import Conversation, Run, Source
from chat.runs import Runs, delete_conversation
from chat.threads import thread
from providers.core.types import TextDelta, Usage
from providers.testing import FakeChat
from tests.cast import Cast
from tests.chat.running import all_events, answer_of, begin, hear_words
from tests.chat.world import QUICK, World, allow_connections, caller
from vault.models import VaultMember

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


async def test_deleting_the_conversation_stops_its_run(
    world: World, people: Cast, other: Runs
) -> None:
    FakeChat.play(TextDelta("Going on"), asyncio.Event())
    turn = await begin(world, people)
    events = world.runs.follow(turn.ids.run)
    async for event in events:
        if event.type == "delta":
            conversation = await Conversation.objects.aget(pk=turn.ids.conversation)
            await sync_to_async(delete_conversation)(conversation)
    assert not await Run.objects.aexists()
    assert FakeChat.requests, "the model had been asked"
    assert await all_events(other, turn) == []


async def test_the_run_of_a_dead_process_becomes_interrupted_with_its_text(
    world: World, people: Cast, other: Runs
) -> None:
    FakeChat.play(TextDelta("Kept words [1]."), asyncio.Event())
    turn = await begin(world, people)
    await hear_words(other, turn)
    world.runs._live[turn.ids.run].stop = lambda *_: None  # type: ignore[method-assign]
    world.runs._tasks[turn.ids.run].cancel()  # as the end of its process would
    await asyncio.gather(world.runs._tasks[turn.ids.run], return_exceptions=True)
    await Run.objects.filter(pk=turn.ids.run).aupdate(lease_until=Now() - timedelta(seconds=1))
    events = await all_events(other, turn)
    assert events[-1].type == "error"
    assert events[-1].data["code"] == "interrupted"
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    message = await answer_of(turn)
    assert (message.status, message.text) == ("interrupted", "Kept words [1].")
    assert message.citations[0]["n"] == 1
    again = Ask(conversation=turn.ids.conversation, again=turn.ids.message)
    second = await other.start(again, caller=await sync_to_async(caller)(people.mate))
    assert (await all_events(other, second))[-1].type == "done"


async def test_a_suspended_user_ends_the_run_itself(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("Going on"), asyncio.Event())
    turn = await begin(world, people)
    async for event in world.runs.follow(turn.ids.run):
        if event.type == "delta":
            people.mate.is_active = False
            await people.mate.asave()
    assert event.data["code"] == "suspended"
    assert (await answer_of(turn)).text == "Going on"


async def test_losing_a_vault_ends_the_run_that_reads_it(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("Going on"), asyncio.Event())
    turn = await begin(world, people)
    async for event in world.runs.follow(turn.ids.run):
        if event.type == "delta":
            await VaultMember.objects.filter(user=people.mate).adelete()
    assert event.data["code"] == "rights_changed"
    shown = await sync_to_async(thread)(
        await Conversation.objects.aget(pk=turn.ids.conversation), people.mate
    )
    assert shown[1]["sources"] == []
    assert shown[1]["hidden_sources"] == [1]


async def test_what_may_not_be_read_any_more_is_not_replayed(world: World, people: Cast) -> None:
    turn = await begin(world, people)
    await all_events(world.runs, turn)
    me = await sync_to_async(caller)(people.mate)
    attached = await world.runs.attach(turn.ids.conversation, turn.ids.run, caller=me)
    assert attached.status == "done"
    await VaultMember.objects.filter(user=people.mate).adelete()
    with pytest.raises(Refused, match="you may no longer read") as refused:
        await world.runs.attach(turn.ids.conversation, turn.ids.run, caller=me)
    assert (refused.value.code, refused.value.status) == ("rights_changed", 403)


async def test_an_answer_that_was_told_a_lost_one_is_not_replayed_either(
    world: World, people: Cast
) -> None:
    first = await begin(world, people)
    await all_events(world.runs, first)
    FakeChat.play(TextDelta("As I said: it failed in March."), Usage())
    me = await sync_to_async(caller)(people.mate)
    ask = Ask(text="Once more?", conversation=first.ids.conversation, mode="no_notes")
    second = await world.runs.start(ask, caller=me)
    await all_events(world.runs, second)
    assert not await Source.objects.filter(message=second.ids.message).aexists()
    await VaultMember.objects.filter(user=people.mate).adelete()
    with pytest.raises(Refused) as refused:
        await world.runs.attach(second.ids.conversation, second.ids.run, caller=me)
    assert refused.value.code == "rights_changed"


async def test_a_database_that_goes_away_for_a_moment_loses_nothing(
    world: World, people: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    world.runs._pace = replace(QUICK, outage=30.0)
    going_on = asyncio.Event()
    FakeChat.play(TextDelta("First. "), going_on, TextDelta("Second."), Usage())
    turn = await begin(world, people)
    await hear_words(world.runs, turn)
    await sync_to_async(allow_connections)(allowed=False)
    try:
        going_on.set()
        while "save_failed" not in caplog.text:
            await asyncio.sleep(0.01)
    finally:
        await sync_to_async(allow_connections)(allowed=True)
    events = await all_events(world.runs, turn)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert events[-1].type == "done"
    assert (await answer_of(turn)).text == "First. Second."


async def test_a_database_that_stays_away_is_told_to_who_listens(
    world: World, people: Cast
) -> None:
    going_on = asyncio.Event()
    FakeChat.play(TextDelta("First. "), going_on, TextDelta("Second."), Usage())
    turn = await begin(world, people)
    try:
        async for event in world.runs.follow(turn.ids.run):
            if event.type == "delta" and not going_on.is_set():
                await sync_to_async(allow_connections)(allowed=False)
                going_on.set()
    finally:
        await sync_to_async(allow_connections)(allowed=True)
    assert event.data["code"] == "not_saved"
    assert "First. Second." in event.data["html"]


async def test_a_database_that_stays_away_ends_a_model_that_goes_on(
    world: World, people: Cast
) -> None:
    FakeChat.play(TextDelta("First. "), asyncio.Event())
    turn = await begin(world, people)
    try:
        async with asyncio.timeout(60):
            async for event in world.runs.follow(turn.ids.run):
                if event.type == "delta":
                    await sync_to_async(allow_connections)(allowed=False)
    finally:
        await sync_to_async(allow_connections)(allowed=True)
    assert event.data["code"] == "not_saved"
    assert "First." in event.data["html"]


async def test_draining_interrupts_what_does_not_end(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("Going on"), asyncio.Event())
    turn = await begin(world, people)
    async for event in world.runs.follow(turn.ids.run):
        if event.type == "delta":
            drained = asyncio.create_task(world.runs.drain(0.05))
    await drained
    assert event.data["code"] == "interrupted"
    assert (await answer_of(turn)).status == "interrupted"
    with pytest.raises(Refused, match="restarting"):
        await begin(world, people)
