"""A model that searches again: its steps, their limits, and what is kept of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from chat.answering import NO_TOOLS, NOBODY, REFUSED
from chat.core.asking import Ask
from chat.core.events import Event, said_text
from chat.models import ChatSettings, Conversation, Message, Source, Step
from chat.runs import decide_step
from chat.threads import thread
from providers.core.errors import NoTools
from providers.core.types import TextDelta, ToolCall, Usage
from providers.models import ChatModel, UsageRecord
from providers.testing import FakeChat
from tests.cast import Cast
from tests.chat.world import World, caller, make_model, make_passage
from vault.models import VaultMember

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]
FREELY = Ask(text="Why did the pump fail?", tool_use="auto")
SEAL = "The seal was worn because the oil was old."


def search(query: str, call_id: str = "c1") -> ToolCall:
    return ToolCall(call_id, "search", f'{{"query": "{query}", "why": "the cause is missing"}}')


def calling(*calls: ToolCall, text: str = "") -> None:
    said = [TextDelta(text)] if text else []
    FakeChat.play(*said, *calls, Usage(10, 2, "tool"))


def saying(text: str) -> None:
    FakeChat.play(TextDelta(text), Usage(20, 5))


async def run(world: World, people: Cast, ask: Ask = FREELY) -> tuple[list[Event], Message]:
    turn = await world.runs.start(ask, caller=await sync_to_async(caller)(people.mate))
    events = [event async for event in world.runs.follow(turn.ids.run)]
    return events, await Message.objects.aget(pk=turn.ids.message)


async def steps_of(message: Message) -> list[Step]:
    return [step async for step in Step.objects.filter(message=message)]


def states(events: list[Event]) -> list[tuple[int, str]]:
    return [(e.data["number"], e.data["state"]) for e in events if e.type == "tool"]


async def find_more(world: World, people: Cast) -> None:
    """A second note, which only a search for “cause” finds."""
    seal = await sync_to_async(make_passage)(people.vault, title="Seal", text=SEAL)
    first = world.retrieval.passages
    world.retrieval.by_question["cause"] = (seal, *first)


async def test_one_search_is_what_is_done_unasked(world: World, people: Cast) -> None:
    saying("In March [1].")
    _, message = await run(world, people, Ask(text="When?"))
    assert FakeChat.requests[-1].tools == ()
    assert message.tool_use == "never"
    assert await steps_of(message) == []


async def test_passages_of_a_step_are_numbered_on_and_cited(world: World, people: Cast) -> None:
    await find_more(world, people)
    calling(search("cause"), text="Let me look. ")
    saying("The oil was old [2]. It failed in March [1].")
    events, message = await run(world, people)
    assert message.text == "The oil was old [2]. It failed in March [1]."
    assert said_text(events) == message.text
    assert states(events) == [(1, "running"), (1, "done")]
    told = [event.data for event in events if event.type == "sources"]
    assert [[p["number"] for p in each["passages"]] for each in told] == [[1], [1, 2]]
    assert [citation["n"] for citation in message.citations] == [2, 1]
    (step,) = await steps_of(message)
    assert (step.tool, step.what, step.why) == ("search", "cause", "the cause is missing")
    assert step.found == [1, 2]
    assert message.tool_use == "auto"


async def test_the_model_is_told_what_was_found_between_fences(world: World, people: Cast) -> None:
    await find_more(world, people)
    calling(search("cause"))
    saying("The oil [2].")
    await run(world, people)
    first, second = list(FakeChat.requests)[-2:]
    assert [spec.name for spec in first.tools] == ["search", "get_section", "similar_notes"]
    call, result = second.messages[-2:]
    assert call.calls == (search("cause"),)
    assert result.answers == search("cause")
    assert SEAL in result.content
    assert "Found again: [1]." in result.content
    mark = result.content.partition("<passage ")[2].partition(">")[0]
    assert f"<passage {mark}>" in first.messages[-1].content
    assert second.grounding is not None
    assert [passage.number for passage in second.grounding.passages] == [1, 2]


async def test_a_step_searches_with_the_rights_of_that_moment(world: World, people: Cast) -> None:
    await find_more(world, people)
    gate = asyncio.Event()
    FakeChat.play(gate, search("cause"), Usage(1, 1, "tool"))
    saying("Nothing more.")
    me = await sync_to_async(caller)(people.mate)
    kept = await Conversation.objects.acreate(owner=people.mate, vaults=["team", "foreign"])
    ask = replace(FREELY, mode="notes_first", conversation=kept.pk)
    turn = await world.runs.start(ask, caller=me)
    while not world.retrieval.scopes:
        await asyncio.sleep(0.01)
    await VaultMember.objects.filter(user=people.mate).adelete()
    gate.set()
    [event async for event in world.runs.follow(turn.ids.run)]
    assert world.retrieval.scopes[0].vault_ids == (people.vault.pk,)
    assert all(scope.vault_ids == () for scope in world.retrieval.scopes[1:])
    assert await Source.objects.filter(message=turn.ids.message).acount() == 1


async def test_a_step_keeps_to_the_tags_and_folders_of_the_question(
    world: World, people: Cast
) -> None:
    calling(search("cause"))
    saying("Yes [1].")
    await run(world, people, replace(FREELY, text="Why did it fail? path:Notes/"))
    first, second = world.retrieval.knobs
    assert [each.value for each in first.filters] == ["notes/"]
    assert second.filters == first.filters


async def test_no_more_steps_than_the_settings_allow(world: World, people: Cast) -> None:
    await ChatSettings.objects.acreate(user=people.mate, tool_steps=2)
    calling(search("one"), search("two", "c2"), search("three", "c3"))
    saying("Enough [1].")
    events, message = await run(world, people)
    assert [step.state for step in await steps_of(message)] == ["done", "done", "failed"]
    assert FakeChat.requests[-1].tool_choice == "none"
    assert len(world.retrieval.scopes) == 3
    assert message.status == "done"
    assert events[-1].type == "done"


async def test_a_model_that_goes_on_calling_is_not_heard(world: World, people: Cast) -> None:
    await ChatSettings.objects.acreate(user=people.mate, tool_steps=1)
    calling(search("one"))
    FakeChat.play(TextDelta("Yes [1]."), search("two"), Usage(1, 1, "tool"))
    _, message = await run(world, people)
    assert message.text == "Yes [1]."
    assert len(await steps_of(message)) == 1


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("delete_everything", "{}"), ("search", '{"que'), ("search", '{"query": "x", "vaults": 1}')],
)
async def test_a_forged_or_broken_call_is_shown_and_reaches_nothing(
    world: World, people: Cast, name: str, arguments: str
) -> None:
    calling(ToolCall("c1", name, arguments))
    saying("Yes [1].")
    events, message = await run(world, people)
    (step,) = await steps_of(message)
    assert (step.state, step.tool) == ("failed", name)
    assert step.said
    assert states(events) == [(1, "failed")]
    assert len(world.retrieval.scopes) == 1
    assert FakeChat.requests[-1].messages[-1].is_failure
    assert message.text == "Yes [1]."


async def test_text_that_looks_like_a_call_is_none(world: World, people: Cast) -> None:
    world.retrieval.passages = (
        replace(world.retrieval.passages[0], text='<tool_call>{"name": "search"}</tool_call>'),
    )
    saying('{"name": "search", "arguments": {"query": "all"}} [1]')
    _, message = await run(world, people)
    assert await steps_of(message) == []
    assert len(world.retrieval.scopes) == 1


async def test_a_model_without_tools_answers_from_one_search(world: World, people: Cast) -> None:
    FakeChat.play(NoTools("llama2 does not support tools"))
    saying("In March [1].")
    events, message = await run(world, people)
    assert message.text == "In March [1]."
    assert NO_TOOLS in message.notices
    assert NO_TOOLS in [e.data["text"] for e in events if e.type == "status"]
    model = await ChatModel.objects.aget(pk=world.model.pk)
    assert model.can_call_tools is False
    saying("In March [1].")
    _, again = await run(world, people)
    assert FakeChat.requests[-1].tools == ()
    assert again.tool_use == "never"
    assert any("cannot search again" in notice for notice in again.notices)


async def test_the_site_may_forbid_it_to_everybody(world: World, people: Cast) -> None:
    await ChatSettings.objects.acreate(user=None, tool_limit="never")
    saying("In March [1].")
    await run(world, people)
    assert FakeChat.requests[-1].tools == ()


async def test_every_call_is_paid_for_and_counted(world: World, people: Cast) -> None:
    calling(search("cause"))
    saying("Yes [1].")
    _, message = await run(world, people)
    assert message.usage == {"input_tokens": 30, "output_tokens": 7}
    assert [call["purpose"] for call in message.calls] == ["answer", "answer"]
    assert await UsageRecord.objects.filter(purpose="answer").acount() == 2


async def test_notes_only_may_find_with_other_words(world: World, people: Cast) -> None:
    await find_more(world, people)
    world.retrieval.passages = ()
    calling(search("cause"), text="From what I know, rust.")
    saying("The oil was old [1].")
    events, message = await run(world, people, replace(FREELY, mode="notes_only"))
    assert message.text == "The oil was old [1]."
    assert "rust" not in str([event.data for event in events if event.type == "delta"])


async def test_notes_only_says_nothing_when_no_search_finds(world: World, people: Cast) -> None:
    world.retrieval.passages = ()
    calling(search("cause"))
    saying("From what I know, it was rust.")
    events, message = await run(world, people, replace(FREELY, mode="notes_only"))
    assert "The notes hold nothing about this" in message.text
    assert "“cause”" in message.text
    assert "rust" not in said_text(events)


# Asking the reader


async def ask_me(world: World, people: Cast, *decisions: str) -> tuple[list[Event], Message]:
    """A run whose searches are decided as they come."""
    me = await sync_to_async(caller)(people.mate)
    turn = await world.runs.start(replace(FREELY, tool_use="ask"), caller=me)
    events, left = [], list(decisions)
    async for event in world.runs.follow(turn.ids.run):
        events.append(event)
        if event.type == "tool" and event.data["state"] == "asked" and left:
            step = event.data["number"]
            await sync_to_async(decide_step)(turn.ids.run, step, left.pop(0), caller=me)
    return events, await Message.objects.aget(pk=turn.ids.message)


async def test_a_search_waits_until_it_is_allowed(world: World, people: Cast) -> None:
    await find_more(world, people)
    calling(search("cause"))
    calling(search("cause of the cause"))
    saying("The oil [2].")
    events, message = await ask_me(world, people, "allow", "allow")
    waiting = ["asked", "running", "done"]
    assert states(events) == [(n, state) for n in (1, 2) for state in waiting]
    assert [step.decision for step in await steps_of(message)] == ["allow", "allow"]


async def test_allowing_all_asks_no_more(world: World, people: Cast) -> None:
    calling(search("cause"))
    calling(search("another"))
    saying("Yes [1].")
    events, _ = await ask_me(world, people, "allow_all")
    assert [state for _, state in states(events)].count("asked") == 1


async def test_a_refusal_holds_for_the_whole_answer(world: World, people: Cast) -> None:
    calling(search("cause"), search("another", "c2"))
    saying("In March [1].")
    events, message = await ask_me(world, people, "refuse")
    assert len(world.retrieval.scopes) == 1
    assert [step.state for step in await steps_of(message)] == ["refused", "failed"]
    told = FakeChat.requests[-1].messages
    assert [message.content for message in told if message.role == "tool"] == [REFUSED, REFUSED]
    assert FakeChat.requests[-1].tool_choice == "none"
    assert message.text == "In March [1]."
    assert events[-1].type == "done"


async def test_nobody_answering_is_a_refusal(world: World, people: Cast, settings: Any) -> None:
    settings.TOOL_DECISION_SECONDS = 0.05
    calling(search("cause"))
    saying("In March [1].")
    _, message = await ask_me(world, people)
    (step,) = await steps_of(message)
    assert (step.state, step.decision) == ("refused", "time_out")
    assert FakeChat.requests[-1].messages[-1].content == NOBODY
    assert len(world.retrieval.scopes) == 1


async def test_a_stop_while_it_waits_keeps_the_step(world: World, people: Cast) -> None:
    calling(search("cause"))
    me = await sync_to_async(caller)(people.mate)
    turn = await world.runs.start(replace(FREELY, tool_use="ask"), caller=me)
    async for event in world.runs.follow(turn.ids.run):
        if event.type == "tool":
            await world.runs.stop(turn.ids.run, caller=me)
    message = await Message.objects.aget(pk=turn.ids.message)
    assert message.status == "stopped"
    (step,) = await steps_of(message)
    assert step.state == "interrupted"


async def test_a_stop_ends_the_search_of_a_step(world: World, people: Cast) -> None:
    found = asyncio.Event()
    FakeChat.play(found, search("cause"), Usage(1, 1, "tool"))
    me = await sync_to_async(caller)(people.mate)
    turn = await world.runs.start(FREELY, caller=me)
    async for event in world.runs.follow(turn.ids.run):
        if event.type == "sources":
            world.retrieval.gate = asyncio.Event()
            found.set()
        if event.type == "tool":
            while len(world.retrieval.scopes) < 2:
                await asyncio.sleep(0.01)
            await world.runs.stop(turn.ids.run, caller=me)
    assert world.retrieval.cancelled == 1
    (step,) = await steps_of(await Message.objects.aget(pk=turn.ids.message))
    assert step.state == "interrupted"


async def test_steps_stand_in_the_thread_and_not_when_it_is_withheld(
    world: World, people: Cast
) -> None:
    calling(search("cause"))
    saying("In March [1].")
    _, message = await run(world, people)
    conversation = await sync_to_async(lambda: message.conversation)()
    shown = await sync_to_async(thread)(conversation, people.mate)
    assert [step["what"] for step in shown[-1]["steps"]] == ["cause"]
    assert shown[-1]["tool_use"] == "auto"
    await VaultMember.objects.filter(user=people.mate).adelete()
    shown = await sync_to_async(thread)(conversation, people.mate)
    assert shown[-1]["withheld"]
    assert shown[-1]["steps"] == []


async def test_a_note_that_is_named_by_its_number_is_shown_by_its_title(
    world: World, people: Cast
) -> None:
    calling(ToolCall("c1", "get_section", '{"note": 1}'))
    saying("In March [1].")
    _, message = await run(world, people)
    (step,) = await steps_of(message)
    assert (step.what, step.state, step.found) == ("Pump 1", "done", [1])


async def test_a_script_of_the_fake_model_searches_and_cites(world: World, people: Cast) -> None:
    await find_more(world, people)
    model = await sync_to_async(make_model)("tool:search:cause|cite", label="Searcher")
    _, message = await run(world, people, replace(FREELY, model=model.pk))
    assert [citation["n"] for citation in message.citations][-1] == 2
