"""A conversation far longer than the model's window (case 61), from question to stored answer."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from chat.core.asking import Ask
from chat.models import Conversation, Message, Persona
from providers.core.tokens import estimate_tokens
from providers.models import ChatModel, Provider
from tests.cases.ingested import DATA
from tests.cast import Cast
from tests.chat.world import World, caller
from tests.contracts.server import ModelServer, Reply, json_reply, serving

pytestmark = [pytest.mark.asyncio, pytest.mark.django_db(transaction=True)]
WINDOW = 8_000
WORDS = ("pump", "seal", "valve", "motor", "panel", "cable", "order", "repair", "week")
QUESTION = "Which code did I give you two questions ago?"
STREAM = "55-empty-deltas-and-usage-chunk/stream.sse"
TOO_LONG = {"error": {"message": "Too long.", "code": "context_length_exceeded"}}


def long_conversation(people: Cast) -> Conversation:
    """Sixty turns of about 120,000 words; the question of turn 58 gives a code."""
    chance = random.Random(2)
    talk = Conversation.objects.create(owner=people.mate, title="Long", title_is_final=True)
    rows: list[Message] = []
    for turn in range(1, 61):
        code = " remember code QX-58-LM" if turn == 58 else ""
        asked = f"Question {turn} about {' '.join(chance.choices(WORDS, k=12))}{code}"
        said = " ".join(chance.choices(WORDS, k=2_000)) + " [1]"
        for role, text in ((Message.Role.USER, asked), (Message.Role.ASSISTANT, said)):
            before = rows[-1] if rows else None
            rows.append(Message(conversation=talk, parent=before, role=role, text=text))
    Message.objects.bulk_create(rows)
    Conversation.objects.filter(pk=talk.pk).update(leaf=rows[-1].pk)
    return talk


def make_rows(window: int) -> tuple[ChatModel, Persona]:
    provider = Provider.objects.create(
        slug="field", name="Field", kind="openai", base_url_variable="FIELD_URL", key_variable="KEY"
    )
    model = ChatModel.objects.create(
        provider=provider, name="fake", context_window=window, max_output_tokens=1_000
    )
    return model, Persona.objects.create(name="Keeper", prompt="You keep the ponds.")


async def answered(
    world: World,
    people: Cast,
    monkeypatch: pytest.MonkeyPatch,
    *replies: Reply,
    window: int = WINDOW,
) -> tuple[Message, ModelServer]:
    """The stored answer to the question about turn 58, and what the provider was sent."""
    monkeypatch.setenv("KEY", "sk-test-000000")
    async with serving(*replies) as server:
        monkeypatch.setenv("FIELD_URL", server.url)
        model, persona = await sync_to_async(make_rows)(window)
        talk = await sync_to_async(long_conversation)(people)
        me = await sync_to_async(caller)(people.mate)
        ask = Ask(text=QUESTION, conversation=talk.pk, model=model.pk, persona=persona.pk)
        turn = await world.runs.start(ask, caller=me)
        async for _event in world.runs.follow(turn.ids.run):
            pass
    return await Message.objects.aget(pk=turn.ids.message), server


def good_reply() -> Reply:
    return Reply([(DATA / STREAM).read_bytes()])


def sent(server: ModelServer, nth: int = 0) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = server.received[nth].body["messages"]
    return messages


def tokens(messages: list[dict[str, Any]]) -> int:
    return sum(estimate_tokens(message["content"]) for message in messages)


async def test_the_newest_turns_the_passages_and_the_persona_are_in_and_the_rest_is_told(
    world: World, people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    message, server = await answered(world, people, monkeypatch, good_reply())
    assert (message.status, message.text) == (Message.Status.DONE, "One two three.")
    system, *history, last = sent(server)
    assert tokens(sent(server)) + 1_000 <= WINDOW
    assert "You keep the ponds." in system["content"]
    assert "The pump failed in March." in last["content"]
    assert last["content"].endswith(f"Question: {QUESTION}")
    told = " ".join(each["content"] for each in history)
    assert "QX-58-LM" in told
    assert "Question 60" in told
    assert "Question 3 " not in told
    assert "[1]" not in told, "numbers of earlier answers are not mixed with this turn's"
    assert any("earlier messages were left out" in notice for notice in message.notices)


async def test_one_passage_larger_than_the_window_is_cut_with_a_mark(
    world: World, people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = "The pump failed in March. " * 4_000
    world.retrieval.passages = (replace(world.retrieval.passages[0], text=large),)
    message, server = await answered(world, people, monkeypatch, good_reply())
    assert message.status == Message.Status.DONE
    assert tokens(sent(server)) + 1_000 <= WINDOW
    assert "…" in sent(server)[-1]["content"]
    assert any("passage" in notice for notice in message.notices)


async def test_a_window_that_is_set_too_large_costs_one_more_call_with_less(
    world: World, people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = json_reply(TOO_LONG, status=400)
    message, server = await answered(
        world, people, monkeypatch, refusal, good_reply(), window=64_000
    )
    assert message.status == Message.Status.DONE
    assert len(server.received) == 2
    assert tokens(sent(server, 1)) < 0.6 * tokens(sent(server, 0))
    assert "QX-58-LM" in str(sent(server, 1))


async def test_a_model_that_refuses_again_is_a_clear_failure(
    world: World, people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = json_reply(TOO_LONG, status=400)
    message, server = await answered(world, people, monkeypatch, refusal, window=64_000)
    assert (message.status, message.error_code) == (Message.Status.FAILED, "input_too_long")
    assert len(server.received) == 2
    assert message.error_mend
