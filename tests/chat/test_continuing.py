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
from chat.core.events import Event
from chat.models import Conversation, Message, Source
from providers.core.errors import RateLimited
from providers.core.types import StopReason, TextDelta, Usage, Withdrawal
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
