"""Runs: they outlive sockets, are replayed without gap, stopped from anywhere, never lost."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async
from django.db import connections

from chat.core.asking import Ask, Refused
from chat.core.events import Event
from chat.models import Conversation, Message, Run, RunEvent, Source
from chat.runs import Runs, SignedOut
from chat.threads import thread
from providers.core.types import TextDelta, Usage
from providers.models import UsageRecord
from providers.testing import FakeChat
from tests.cast import Cast
from tests.chat.running import all_events, answer_of, begin, hear_words
from tests.chat.world import QUICK, World, caller

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


async def test_an_answer_is_saved_before_its_last_event(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("The pump failed in March. [1]"), Usage(3, 6))
    FakeChat.play(TextDelta("Pump failure"), Usage(3, 2))
    turn = await begin(world, people)
    async for event in world.runs.follow(turn.ids.run):
        if event.is_last:
            message = await answer_of(turn)
            assert message.status == "done"
            assert message.text.startswith("The pump failed in March. [1]")
            assert message.citations == event.data["citations"]
            assert message.model_label == "Fake model"
            assert message.notices == ["Search by meaning was skipped: no model."]
    assert await world.runs.title_after(turn.ids) == "Pump failure"
    purposes = [record.purpose async for record in UsageRecord.objects.order_by("pk")]
    assert purposes == ["answer", "title"]


async def test_a_run_goes_on_without_anybody_listening(world: World, people: Cast) -> None:
    socket = await world.socket(people.mate)
    going_on = asyncio.Event()
    FakeChat.play(TextDelta("First. "), going_on, TextDelta("Second."), Usage())
    await socket.say(type="ask", text="When did the pump fail?")
    accepted = await socket.hear_type("accepted")
    await socket.hear_type("delta")
    await socket.disconnect()
    going_on.set()
    again = await world.socket(people.mate)
    await again.say(type="attach", conversation=accepted["conversation"], run=accepted["run"])
    frames = (await again.hear_to_the_end())[1:]
    assert [frame["seq"] for frame in frames] == list(range(1, len(frames) + 1))
    assert "".join(f["text"] for f in frames if f["type"] == "delta") == "First. Second."
    await again.disconnect()


async def test_replay_after_any_cut_has_no_gap_and_no_duplicate(
    world: World, people: Cast, other: Runs
) -> None:
    """A hundred listeners, on the owner's process and elsewhere, cut off at random."""
    chance = random.Random(7)
    steps: list[Any] = [0.005]
    for number in range(120):
        steps += [TextDelta(f"word{number} "), 0.005]
    FakeChat.play(*steps, Usage())
    turn = await begin(world, people)

    async def listen_with_cuts() -> list[Event]:
        heard: list[Event] = []
        while not heard or not heard[-1].is_last:
            runs = chance.choice((world.runs, other))
            until = chance.randint(1, 12)
            after = heard[-1].seq if heard else 0
            events = runs.follow(turn.ids.run, after=after)
            async for event in events:
                heard.append(event)
                until -= 1
                if until == 0 and not event.is_last:
                    break
            await events.aclose()
        return heard

    listeners = await asyncio.gather(*(listen_with_cuts() for _ in range(10)))
    straight = await all_events(world.runs, turn)
    assert [event.seq for event in straight] == list(range(1, len(straight) + 1))
    assert all(heard == straight for heard in listeners)


async def test_two_processes_hear_the_same_and_either_stops(
    world: World, people: Cast, other: Runs
) -> None:
    FakeChat.play(TextDelta("A beginning [1] "), asyncio.Event())
    turn = await begin(world, people)
    there = other.follow(turn.ids.run)
    heard = []
    async for event in there:
        heard.append(event)
        if event.type == "delta":
            await other.stop(turn.ids.run, caller=await sync_to_async(caller)(people.mate))
    assert heard[-1].type == "stopped"
    assert heard == await all_events(world.runs, turn)
    message = await answer_of(turn)
    assert (message.status, message.text) == ("stopped", "A beginning [1] ")
    (call,) = [call for call in message.calls if call["purpose"] == "answer"]
    spent = {name: call[name] for name in ("input_tokens", "output_tokens")}
    assert min(spent.values()) > 0
    assert message.usage == heard[-1].data["usage"] == spent


async def test_a_follower_elsewhere_survives_the_loss_of_its_listening_connection(
    world: World, people: Cast, other: Runs
) -> None:
    going_on = asyncio.Event()
    FakeChat.play(TextDelta("First. "), going_on, TextDelta("Second."), Usage())
    turn = await begin(world, people)
    text = ""
    async for event in other.follow(turn.ids.run):
        text += event.data["text"] if event.type == "delta" else ""
        if event.type == "delta" and not going_on.is_set():
            await other.bridge.listening.wait()
            await sync_to_async(end_listeners)()
            going_on.set()
    assert text == "First. Second."


def end_listeners() -> None:
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE query LIKE 'LISTEN%%' AND datname = current_database()"
        )


async def test_one_answer_at_a_time_in_a_conversation(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("Going on"), asyncio.Event())
    turn = await begin(world, people)
    await hear_words(world.runs, turn)
    again = Ask(text="And the seal?", conversation=turn.ids.conversation)
    me = await sync_to_async(caller)(people.mate)
    with pytest.raises(Refused, match="Wait for it, or stop it") as refused:
        await world.runs.start(again, caller=me)
    assert refused.value.code == "run_active"
    assert await Message.objects.filter(conversation=turn.ids.conversation).acount() == 2
    await world.runs.stop(turn.ids.run, caller=me)
    await all_events(world.runs, turn)
    second = await world.runs.start(again, caller=me)
    assert (await all_events(world.runs, second))[-1].type == "done"


async def test_a_stopped_answer_is_asked_for_again(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("Half of"), asyncio.Event())
    turn = await begin(world, people)
    me = await sync_to_async(caller)(people.mate)
    async for event in world.runs.follow(turn.ids.run):
        if event.type == "delta":
            await world.runs.stop(turn.ids.run, caller=me)
    ask = Ask(conversation=turn.ids.conversation, again=turn.ids.message)
    second = await world.runs.start(ask, caller=me)
    await all_events(world.runs, second)
    assert second.question == turn.question
    conversation = await Conversation.objects.aget(pk=turn.ids.conversation)
    shown = await sync_to_async(thread)(conversation, people.mate)
    assert [(m["role"], m["status"], m["replaced"]) for m in shown] == [
        ("user", "done", False),
        ("assistant", "stopped", True),
        ("assistant", "done", False),
    ]


async def test_rows_are_bounded_by_seconds_not_by_words(world: World, people: Cast) -> None:
    words = [TextDelta(f"w{number} ") for number in range(2000)]
    FakeChat.play(*words, 0.2, *words, Usage())
    world.runs._pace = replace(QUICK, flush=0.1)
    turn = await begin(world, people)
    events = await all_events(world.runs, turn)
    rows = await RunEvent.objects.filter(run=turn.ids.run).acount()
    assert sum(len(e.data["text"].split()) for e in events if e.type == "delta") == 4000
    message = await answer_of(turn)
    run = await Run.objects.aget(pk=turn.ids.run)
    last = await RunEvent.objects.filter(run=run).order_by("-first").afirst()
    assert last is not None
    seconds = (last.created - message.created).total_seconds()
    assert rows <= seconds / 0.1 + 2


async def test_a_listener_that_falls_behind_reads_on_from_the_tables(
    world: World, people: Cast
) -> None:
    world.runs._pace = replace(QUICK, queue=3)
    steps: list[Any] = []
    for number in range(40):
        steps += [TextDelta(f"word{number} "), 0.011]
    FakeChat.play(*steps, Usage())
    turn = await begin(world, people)
    slow = world.runs.follow(turn.ids.run)
    first = await anext(slow)
    everything = await all_events(world.runs, turn)
    rest = [event async for event in slow]
    assert [first, *rest] == everything


async def test_nobody_touches_a_run_of_somebody_else(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("Going on"), asyncio.Event())
    turn = await begin(world, people)
    await hear_words(world.runs, turn)
    stranger = await sync_to_async(caller)(people.owner)
    texts = set()
    for run, conversation in (
        (turn.ids.run, turn.ids.conversation),
        (uuid4(), uuid4()),
    ):
        for attempt in (
            world.runs.stop(run, caller=stranger),
            world.runs.attach(conversation, None, caller=stranger),
            world.runs.attach(conversation, run, caller=stranger),
            world.runs.start(Ask(text="Hi", conversation=conversation), caller=stranger),
            world.runs.start(
                Ask(conversation=conversation, again=turn.ids.message), caller=stranger
            ),
        ):
            with pytest.raises(Refused) as refused:
                await attempt
            texts.add((refused.value.code, str(refused.value), refused.value.status))
    assert len(texts) == 1
    run_row = await Run.objects.aget(pk=turn.ids.run)
    assert (run_row.state, run_row.stop_wanted) == ("active", False)
    assert await Message.objects.acount() == 2


async def test_who_signed_out_may_do_nothing(world: World, people: Cast) -> None:
    me = await sync_to_async(caller)(people.mate)
    people.mate.set_password("another one entirely")
    await people.mate.asave()
    with pytest.raises(SignedOut):
        await world.runs.start(Ask(text="Hi"), caller=me)
    assert not await Message.objects.aexists()


async def test_sources_are_kept_as_they_were(world: World, people: Cast) -> None:
    turn = await begin(world, people)
    await all_events(world.runs, turn)
    source = await Source.objects.aget(message=turn.ids.message)
    assert (source.number, source.path) == (1, "Notes/Pump 1.md")
    assert source.text == world.retrieval.passages[0].text
    assert source.note_hash == "0" * 64
