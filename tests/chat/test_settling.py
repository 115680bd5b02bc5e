"""What an answer is kept as: with marks, or as none where notes alone may speak."""

from __future__ import annotations

from dataclasses import replace

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError

from chat.abstaining import NOT_BORNE_OUT
from chat.core.asking import Ask
from chat.core.citations import Quotable
from chat.core.events import said_text
from chat.models import ChatSettings, Conversation
from chat.parts import Sourced
from chat.settling import ABSTAINED, SOURCES_ADDED, settle
from chat.threads import thread
from providers.core.types import TextDelta, Usage
from providers.models import Provider
from providers.testing import FakeChat
from tests.cast import Cast
from tests.chat.test_turn import BARE, QUESTION, answer
from tests.chat.world import World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]

PUMP = "The pump failed in March. It was repaired in three hours by Ann."
SOURCED = Sourced({}, (Quotable(1, "Pump", PUMP, 0, len(PUMP), "/n", 1),), adds_marks=True)


async def refuse(_said: str) -> str:
    return "No answer."


async def out_of_reach(_said: str) -> str:
    raise OperationalError("away")


@pytest.mark.parametrize(
    ("said", "text", "reason"),
    [
        ("The pump failed in March [1].", "The pump failed in March [1].", ""),
        ("The pump failed in March.", "The pump failed in March. [1]", SOURCES_ADDED),
        ("Elephants remember their grandmothers [1].", "No answer.", ABSTAINED),
        ("Elephants remember their grandmothers.", "No answer.", ABSTAINED),
        ("Elephants remember it [1]. Paris is a city [9].", "No answer.", ABSTAINED),
    ],
)
async def test_what_no_passage_bears_out_is_no_strict_answer(
    said: str, text: str, reason: str
) -> None:
    settled = await settle(said, replace(SOURCED, abstain=refuse), patience=1)
    assert (settled.text, settled.reason) == (text, reason)
    loose = await settle(said, SOURCED, patience=1)
    assert loose.reason != ABSTAINED
    assert (await settle(said, Sourced({}, (), abstain=refuse), patience=1)).text == said


async def test_while_the_database_is_away_a_strict_answer_is_none_all_the_same() -> None:
    settled = await settle("Elephants.", replace(SOURCED, abstain=out_of_reach), patience=1)
    assert (settled.text, settled.reason) == (NOT_BORNE_OUT, ABSTAINED)


STRICT = Ask(text=QUESTION, mode="notes_only")


@pytest.mark.parametrize(
    "said",
    [
        "The capital of France is Paris, a city on the river Seine.",
        "Paris is the capital of France [1].",
        "The notes do not say. The capital of France is Paris.",
    ],
)
async def test_a_strict_answer_that_no_passage_bears_out_is_none(
    world: World, people: Cast, said: str
) -> None:
    FakeChat.play(TextDelta(said), Usage(9, 12))
    events, message = await answer(world, people, STRICT)
    assert message.status == "done"
    assert message.text.startswith(NOT_BORNE_OUT)
    assert "Searched: Team." in message.text
    assert f"“{QUESTION}”" in message.text
    assert message.citations == events[-1].data["citations"] == []
    assert message.nearest == [world.retrieval.passages[0].note_id]
    (reset,) = [event for event in events if event.type == "reset"]
    assert reset.data == {"reason": "abstained"}
    assert said_text(events) == message.text
    assert "Paris" not in events[-1].data["html"]
    conversation = await Conversation.objects.aget(pk=message.conversation_id)
    shown = (await sync_to_async(thread)(conversation, people.mate))[1]
    assert (shown["html"], shown["text"]) == (events[-1].data["html"], message.text)
    assert message.usage == {"input_tokens": 9, "output_tokens": 12}


async def test_a_strict_refusal_of_the_model_stays_and_says_what_was_searched(
    world: World, people: Cast
) -> None:
    FakeChat.play(TextDelta("Die Notizen sagen dazu nichts."), Usage(9, 12))
    events, message = await answer(world, people, STRICT)
    assert message.text.startswith("Die Notizen sagen dazu nichts.\n\nSearched: Team.")
    assert not [event for event in events if event.type == "reset"]
    assert said_text(events) == message.text


@pytest.mark.parametrize(
    "said",
    [
        "The pump failed in March [1].",
        "Насос отказал в марте [1].",
        "The pump failed in March [1]. The capital of France is Paris [1].",
    ],
)
async def test_a_strict_answer_that_a_passage_bears_out_stays(
    world: World, people: Cast, said: str
) -> None:
    FakeChat.play(TextDelta(said), Usage(9, 12))
    _, message = await answer(world, people, STRICT)
    assert message.text == said


async def test_a_strict_answer_without_marks_stays_where_it_could_be_given_one(
    world: World, people: Cast
) -> None:
    FakeChat.play(TextDelta(BARE), Usage(9, 12))
    _, message = await answer(world, people, STRICT)
    assert (message.sources_added, len(message.citations)) == (True, 2)


async def test_it_stays_too_where_marks_are_not_added(world: World, people: Cast) -> None:
    await ChatSettings.objects.acreate(adds_sources=False)
    FakeChat.play(TextDelta(BARE), Usage(9, 12))
    _, message = await answer(world, people, STRICT)
    assert message.text == BARE


async def test_quotes_are_a_strict_answer(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("Closest in the notes."), Usage(9, 12))
    await Provider.objects.filter(pk=world.model.provider_id).aupdate(kind="extractive")
    _, message = await answer(world, people, STRICT)
    assert NOT_BORNE_OUT not in message.text


async def test_beyond_the_notes_an_answer_that_none_bears_out_stays(
    world: World, people: Cast
) -> None:
    FakeChat.play(TextDelta("The capital of France is Paris."), Usage(9, 12))
    _, message = await answer(world, people)
    assert message.text == "The capital of France is Paris."
