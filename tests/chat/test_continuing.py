"""An answer that ended early goes on: its text, its passages and their numbers are kept."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID, uuid4

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from django.urls import reverse

from chat.core.asking import Ask, Refused
from chat.core.events import Event, said_text
from chat.models import ChatSettings, Conversation, Message, Source
from chat.runs import decide_step
from providers.core.errors import RateLimited
from providers.core.types import StopReason, TextDelta, ToolCall, Usage, Withdrawal
from providers.models import UsageRecord
from providers.testing import FakeChat
from tests.cast import Cast
from tests.chat.world import World, caller

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]

QUESTION = "When did the pump fail?"
KEPT = "The pump failed in March [1]. The seal"


async def answer(world: World, people: Cast, ask: Ask) -> tuple[list[Event], Message]:
    me = await sync_to_async(caller)(people.mate)
    turn = await world.runs.start(ask, caller=me)
    events = [event async for event in world.runs.follow(turn.ids.run)]
    return events, await Message.objects.aget(pk=turn.ids.message)


async def named(people: Cast) -> UUID:
    """A conversation that no model is asked to name: every script is for an answer."""
    made = await Conversation.objects.acreate(owner=people.mate, title="P", title_is_final=True)
    return made.pk


async def cut_answer(
    world: World, people: Cast, text: str = KEPT, reason: StopReason = "length", **ask: Any
) -> Message:
    FakeChat.play(TextDelta(text), Usage(100, 10, reason))
    ask["conversation"] = await named(people)
    _, message = await answer(world, people, Ask(text=QUESTION, **ask))
    return message


def on(message: Message, **fields: Any) -> Ask:
    return Ask(conversation=message.conversation_id, continues=message.pk, **fields)


async def test_a_new_version_begins_with_the_kept_text_and_has_no_word_twice(
    world: World, people: Cast
) -> None:
    cut = await cut_answer(world, people)
    FakeChat.play(TextDelta("March [1]. The "), TextDelta("seal was worn [1]."), Usage(120, 7))
    events, whole = await answer(world, people, on(cut))
    assert whole.text == "The pump failed in March [1]. The seal was worn [1]."
    assert "".join(e.data["text"] for e in events if e.type == "delta") == whole.text
    assert (whole.status, whole.cut_short, whole.parent_id) == ("done", False, cut.parent_id)
    assert [citation["n"] for citation in whole.citations] == [1, 1]
    assert whole.usage == {"input_tokens": 220, "output_tokens": 17}
    assert "goes on from an answer that ended early" in whole.notices[0]
    await cut.arefresh_from_db()
    assert (cut.text, cut.cut_short) == (KEPT, True)
    paid = [r.output_tokens async for r in UsageRecord.objects.filter(purpose="answer")]
    assert sorted(paid) == [7, 10], "each call is paid for once"


async def test_the_model_is_told_its_words_the_same_passages_and_where_to_go_on(
    world: World, people: Cast
) -> None:
    cut = await cut_answer(world, people)
    await answer(world, people, on(cut))
    asked, begun, go_on = FakeChat.requests[-1].messages
    assert asked.content.endswith(f"Question: {QUESTION}")
    assert "<passage" in asked.content
    assert (begun.role, begun.content) == ("assistant", KEPT)
    assert go_on.role == "user"
    assert go_on.content.endswith("failed in March [1]. The seal")


async def test_nothing_is_searched_anew_and_numbers_keep_their_passages(
    world: World, people: Cast
) -> None:
    cut = await cut_answer(world, people)
    searches = len(world.retrieval.scopes)
    world.retrieval.passages = ()
    events, whole = await answer(world, people, on(cut))
    assert len(world.retrieval.scopes) == searches
    rows = [
        [(s.number, s.path, s.text, s.start) async for s in Source.objects.filter(message=m)]
        for m in (cut, whole)
    ]
    assert rows[0] == rows[1] != []
    assert [p["number"] for p in events[0].data["passages"]] == [row[0] for row in rows[0]]


async def test_it_goes_on_in_its_own_mode(world: World, people: Cast) -> None:
    cut = await cut_answer(world, people, "From what I know, it", mode="no_notes")
    events, whole = await answer(world, people, on(cut, mode="notes_only"))
    assert (whole.mode, events[0].data["mode"]) == ("no_notes", "no_notes")


async def test_a_stopped_answer_goes_on_and_one_that_fails_again_keeps_its_text(
    world: World, people: Cast
) -> None:
    FakeChat.play(TextDelta(KEPT), asyncio.Event())
    me = await sync_to_async(caller)(people.mate)
    turn = await world.runs.start(Ask(text=QUESTION, conversation=await named(people)), caller=me)
    async for event in world.runs.follow(turn.ids.run):
        if event.type == "delta":
            await world.runs.stop(turn.ids.run, caller=me)
    stopped = await Message.objects.aget(pk=turn.ids.message)
    FakeChat.play(TextDelta("was"), RateLimited("Too many calls."))
    _, failed = await answer(world, people, on(stopped))
    assert (failed.status, failed.text) == ("failed", f"{KEPT} was")
    FakeChat.play(TextDelta("worn."), Usage(5, 1))
    _, whole = await answer(world, people, on(failed))
    assert whole.text == f"{KEPT} was worn."


async def test_withdrawn_reasoning_takes_nothing_of_the_beginning(
    world: World, people: Cast
) -> None:
    cut = await cut_answer(world, people)
    FakeChat.play(TextDelta("hm"), Withdrawal(), TextDelta("was worn."), Usage(5, 1))
    _, whole = await answer(world, people, on(cut))
    assert whole.text == f"{KEPT} was worn."


async def test_a_whole_answer_a_missing_one_and_a_question_are_refused(
    world: World, people: Cast
) -> None:
    whole = await cut_answer(world, people, reason="end")
    me = await sync_to_async(caller)(people.mate)
    for message, code in (
        (whole.pk, "not_cut"),
        (whole.parent_id, "not_found"),
        (uuid4(), "not_found"),
    ):
        with pytest.raises(Refused) as refused:
            await world.runs.start(
                Ask(conversation=whole.conversation_id, continues=message), caller=me
            )
        assert refused.value.code == code
    stranger = await sync_to_async(caller)(people.outsider)
    with pytest.raises(Refused) as refused:
        await world.runs.start(on(whole), caller=stranger)
    assert refused.value.code == "not_found"
    assert await Message.objects.acount() == 2


async def test_an_answer_from_a_vault_that_was_taken_away_does_not_go_on(
    world: World, people: Cast
) -> None:
    cut = await cut_answer(world, people)
    await people.vault.members.filter(user=people.mate).adelete()
    me = await sync_to_async(caller)(people.mate)
    with pytest.raises(Refused) as refused:
        await world.runs.start(on(cut), caller=me)
    assert refused.value.code == "rights_changed"


# Further searches


CALL = ToolCall("c1", "search", '{"query": "cause"}')


async def cut_after_a_step(
    world: World, people: Cast, *, decision: str = "", steps: int = 3
) -> Message:
    """An answer that ended early after one step; with a `decision` the step had to wait for it."""
    await ChatSettings.objects.acreate(user=people.mate, tool_steps=steps)
    FakeChat.play(CALL, Usage(10, 2, "tool"))
    FakeChat.play(TextDelta(KEPT), Usage(100, 10, "length"))
    me = await sync_to_async(caller)(people.mate)
    ask = Ask(
        text=QUESTION, conversation=await named(people), tool_use="ask" if decision else "auto"
    )
    turn = await world.runs.start(ask, caller=me)
    async for event in world.runs.follow(turn.ids.run):
        if event.type == "tool" and event.data["state"] == "asked":
            await sync_to_async(decide_step)(turn.ids.run, 1, decision, caller=me)
    return await Message.objects.aget(pk=turn.ids.message)


async def test_it_searches_on_with_the_steps_that_are_left(world: World, people: Cast) -> None:
    cut = await cut_after_a_step(world, people)
    other = ToolCall("c2", "search", '{"query": "wear"}')
    FakeChat.play(TextDelta("Let me see."), other, Usage(20, 3, "tool"))
    FakeChat.play(TextDelta("The seal was worn [1]."), Usage(30, 4))
    events, whole = await answer(world, people, on(cut))
    assert whole.text == f"{KEPT} was worn [1]."
    assert said_text(events) == whole.text
    told = [(e.data["number"], e.data["state"]) for e in events if e.type == "tool"]
    assert told == [(1, "done"), (2, "running"), (2, "done")]
    assert [step.what async for step in whole.steps.all()] == ["cause", "wear"]
    assert await cut.steps.acount() == 1
    assert "at most 2 times" in FakeChat.requests[-1].system
    assert whole.tool_use == "auto"
    assert whole.usage == {"input_tokens": 160, "output_tokens": 19}


async def test_no_step_is_left_to_what_took_them_all(world: World, people: Cast) -> None:
    cut = await cut_after_a_step(world, people, steps=1)
    FakeChat.play(TextDelta("was worn."), Usage(5, 1))
    _, whole = await answer(world, people, on(cut))
    assert FakeChat.requests[-1].tools == ()
    assert (whole.tool_use, await whole.steps.acount()) == ("auto", 1)


async def test_a_refusal_holds_when_it_goes_on_and_a_permission_is_asked_for_again(
    world: World, people: Cast
) -> None:
    refused = await cut_after_a_step(world, people, decision="refuse")
    FakeChat.play(TextDelta("was worn."), Usage(5, 1))
    await answer(world, people, on(refused, tool_use="auto"))
    assert FakeChat.requests[-1].tools == ()
    await ChatSettings.objects.all().adelete()
    allowed = await cut_after_a_step(world, people, decision="allow_all")
    FakeChat.play(ToolCall("c2", "search", '{"query": "wear"}'), Usage(20, 3, "tool"))
    me = await sync_to_async(caller)(people.mate)
    turn = await world.runs.start(on(allowed), caller=me)
    states = []
    async for event in world.runs.follow(turn.ids.run):
        if event.type == "tool":
            states.append(event.data["state"])
            if event.data["state"] == "asked":
                await world.runs.stop(turn.ids.run, caller=me)
    assert states == ["done", "asked"]


async def test_the_limit_of_the_site_holds_for_what_goes_on(world: World, people: Cast) -> None:
    cut = await cut_after_a_step(world, people)
    await ChatSettings.objects.acreate(user=None, tool_limit="never")
    FakeChat.play(TextDelta("was worn."), Usage(5, 1))
    await answer(world, people, on(cut, tool_use="auto"))
    assert FakeChat.requests[-1].tools == ()


async def test_the_page_offers_it_where_an_answer_ended_early_and_the_form_does_it(
    world: World, people: Cast
) -> None:
    cut = await cut_answer(world, people)
    client = AsyncClient()
    await client.aforce_login(people.mate, backend="django.contrib.auth.backends.ModelBackend")
    address = reverse("conversation", args=[cut.conversation_id])
    assert f'data-continue="{cut.pk}"' in (await client.get(address)).content.decode()
    FakeChat.play(TextDelta("was worn."), Usage(5, 1))
    response = await client.post(
        reverse("ask"), {"continue": str(cut.pk), "conversation": str(cut.conversation_id)}
    )
    shown = (await client.get(response["Location"])).content.decode()
    assert "The seal was worn." in shown
    assert "2 of 2" in shown
    assert "data-continue" not in shown
