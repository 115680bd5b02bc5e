"""One turn: what is searched, told, asked and written in each mode and for each fault."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from chat.calling import SHORTENED
from chat.core.asking import Ask
from chat.core.events import Event, RunIds, said_text
from chat.models import ChatSettings, Conversation, Message, Persona, Run
from chat.threads import thread
from providers.core.errors import InputTooLong, RateLimited, Unreachable
from providers.core.types import ReasoningDelta, TextDelta, Usage, Withdrawal
from providers.models import ChatModel, UsageRecord
from providers.testing import FakeChat
from retrieval.core.types import Retrieval
from tests.cast import Cast
from tests.chat.world import World, caller, make_model, make_passage
from vault.models import VaultMember

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]

QUESTION = "When did the pump fail?"


async def answer(world: World, people: Cast, ask: Ask | None = None) -> tuple[list[Event], Message]:
    """The events of a whole turn, and the message it left."""
    me = await sync_to_async(caller)(people.mate)
    turn = await world.runs.start(ask or Ask(text=QUESTION), caller=me)
    events = [event async for event in world.runs.follow(turn.ids.run)]
    assert events[0].type == "sources"
    assert [event.is_last for event in events].count(True) == 1
    return events, await Message.objects.aget(pk=turn.ids.message)


async def until_named() -> None:
    """Until the model was asked for a title, whatever it said."""
    while not await UsageRecord.objects.filter(purpose="title").aexists():
        await asyncio.sleep(0.01)


def text_of(events: list[Event]) -> str:
    return "".join(event.data["text"] for event in events if event.type == "delta")


async def test_the_notes_are_searched_with_the_askers_rights_now(
    world: World, people: Cast
) -> None:
    await answer(world, people)
    for kept in (["team", "foreign"], ["foreign"]):  # chosen while both could be read
        made = await Conversation.objects.acreate(owner=people.mate, vaults=kept)
        await answer(world, people, Ask(text=QUESTION, conversation=made.pk))
    everything, both, foreign = world.retrieval.scopes
    assert everything.vault_ids == both.vault_ids == (people.vault.pk,)
    assert everything.user_id == people.mate.pk
    assert foreign.vault_ids == ()


async def test_a_conversation_keeps_its_vaults_until_a_question_names_others(
    world: World, people: Cast
) -> None:
    conversation = await Conversation.objects.acreate(owner=people.mate, vaults=[])
    await answer(world, people, Ask(text="One?", conversation=conversation.pk))
    await answer(world, people, Ask(text="Two?", conversation=conversation.pk, vaults=("team",)))
    assert [scope.vault_ids for scope in world.retrieval.scopes] == [(), (people.vault.pk,)]


async def test_notes_only_without_passages_says_so_and_asks_no_model(
    world: World, people: Cast
) -> None:
    world.retrieval.passages = ()
    events, message = await answer(world, people, Ask(text=QUESTION, mode="notes_only"))
    assert "The notes hold nothing about this" in text_of(events)
    assert "Searched: Team." in text_of(events)
    assert f"“{QUESTION}”" in text_of(events)
    assert message.status == "done"
    assert not FakeChat.requests
    assert not await UsageRecord.objects.aexists()


async def test_notes_only_with_nothing_to_read_says_that(world: World, people: Cast) -> None:
    ask = Ask(text=QUESTION, mode="notes_only", vaults=())
    events, _ = await answer(world, people, ask)
    assert "no vault, because none can be read" in text_of(events)


async def test_notes_first_without_passages_asks_the_model(world: World, people: Cast) -> None:
    world.retrieval.passages = ()
    events, _ = await answer(world, people)
    assert text_of(events) == "The notes say nothing about this."


async def test_no_notes_searches_nothing_and_says_so(world: World, people: Cast) -> None:
    events, message = await answer(world, people, Ask(text=QUESTION, mode="no_notes"))
    assert world.retrieval.scopes == []
    assert events[0].data["mode"] == message.mode == "no_notes"
    assert events[0].data["passages"] == []
    assert "No notes were searched" in FakeChat.requests[0].system


async def test_reasoning_is_told_as_a_stage_and_never_kept(world: World, people: Cast) -> None:
    FakeChat.play(
        ReasoningDelta("secret "), ReasoningDelta("plan [2]"), TextDelta("Yes [1]."), Usage()
    )
    events, message = await answer(world, people)
    stages = [event.data["stage"] for event in events if event.type == "status"]
    assert stages == ["writing", "thinking"]
    assert message.text == "Yes [1]."
    assert "secret" not in str([event.data for event in events])


async def test_what_was_said_before_is_told_to_the_model(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("In March [1]."), Usage())
    _, first = await answer(world, people)
    await answer(world, people, Ask(text="And why?", conversation=first.conversation_id))
    said = [(m.role, m.content) for m in FakeChat.requests[-1].messages]
    assert said[:2] == [("user", QUESTION), ("assistant", "In March.")]
    assert said[2][1].endswith("Question: And why?")


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Unreachable("The model server cannot be reached."), "unreachable"),
        (RateLimited("Too many calls."), "rate_limited"),
    ],
)
async def test_a_failing_provider_keeps_the_text_and_says_how_to_mend_it(
    fault: Exception, code: str, world: World, people: Cast
) -> None:
    FakeChat.play(TextDelta("The seal was worn [1] and"), fault)
    events, message = await answer(world, people)
    last = events[-1]
    assert (last.type, last.data["code"], last.data["text"]) == ("error", code, str(fault))
    assert last.data["mend"]
    assert "The seal was worn" in last.data["html"]
    assert (message.status, message.text) == ("failed", "The seal was worn [1] and")
    assert (message.error_code, message.error) == (code, str(fault))
    record = await UsageRecord.objects.aget()
    assert (record.purpose, record.failed_with) == ("answer", code)


async def test_a_fault_of_our_own_is_told_without_its_details(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("Half"), RuntimeError("sk-test-000000"))
    events, message = await answer(world, people)
    assert events[-1].data["code"] == "internal"
    assert "sk-test" not in str([event.data for event in events])
    assert (message.status, message.text) == ("failed", "Half")


@pytest.mark.parametrize(
    ("parts", "status", "code", "is_cut_short"),
    [
        ([TextDelta("Half a"), Usage(stop_reason="length")], "done", "", True),
        ([Usage(stop_reason="length")], "failed", "no_answer", False),
        ([Usage()], "failed", "no_answer", False),
        ([TextDelta(" \n"), Usage()], "failed", "no_answer", False),
        ([TextDelta("Well"), Usage(stop_reason="filter")], "failed", "filtered", False),
    ],
)
async def test_an_answer_that_is_not_whole_says_so(
    parts: list[Any], status: str, code: str, is_cut_short: Any, world: World, people: Cast
) -> None:
    FakeChat.play(*parts)
    events, message = await answer(world, people)
    assert (message.status, message.error_code) == (status, code)
    assert message.cut_short == is_cut_short == events[-1].data.get("cut_short", False)


async def test_a_request_too_long_is_tried_once_with_less(world: World, people: Cast) -> None:
    FakeChat.play(InputTooLong("too many tokens"))
    FakeChat.play(TextDelta("It fits."), Usage())
    events, message = await answer(world, people)
    assert message.text == "It fits."
    assert SHORTENED in [event.data["text"] for event in events if event.type == "status"]
    long, short = (request.context_window for request in list(FakeChat.requests)[:2])
    assert short == long // 2


async def test_a_request_that_never_fits_says_what_to_change(world: World, people: Cast) -> None:
    FakeChat.play(InputTooLong("too many tokens"))
    FakeChat.play(InputTooLong("too many tokens"))
    events, _ = await answer(world, people)
    assert events[-1].data["code"] == "input_too_long"
    assert "context window" in events[-1].data["mend"]


async def test_settings_and_persona_reach_the_model(world: World, people: Cast) -> None:
    persona = await Persona.objects.acreate(name="Ada", role="engineer", prompt="Be exact.")
    await ChatSettings.objects.acreate(system_prompt="Site prompt.", passages=9, rerank=True)
    await ChatSettings.objects.acreate(user=people.mate, persona=persona, passages=4)
    events, message = await answer(world, people)
    assert FakeChat.requests[0].system.startswith("Site prompt.")
    assert FakeChat.requests[0].system.endswith("Be exact.")
    assert (world.retrieval.knobs[0].passages, world.retrieval.knobs[0].rerank) == (4, True)
    assert events[0].data["persona"] == message.persona_name == "Ada, engineer"


async def test_a_model_that_is_gone_leaves_a_usable_conversation(
    world: World, people: Cast
) -> None:
    gone = await sync_to_async(make_model)("say:Hello", label="Gone model", enabled=False)
    await ChatSettings.objects.acreate(user=people.mate, model=gone)
    events, message = await answer(world, people)
    assert message.status == "done"
    assert message.model_label == events[0].data["model"] == "Fake model"
    assert "“Gone model” is not available now, so Fake model answered" in message.notices[0]
    await ChatModel.objects.filter(pk=gone.pk).aupdate(enabled=True)
    _, message = await answer(world, people)
    assert (message.text, message.model_label) == ("Hello", "Gone model")


async def test_without_any_model_the_question_is_kept_and_the_reason_told(
    world: World, people: Cast
) -> None:
    await ChatModel.objects.all().aupdate(enabled=False)
    events, _message = await answer(world, people)
    assert events[-1].data["code"] == "not_configured"
    assert events[0].data["passages"] == []
    assert await Message.objects.filter(role="user", text=QUESTION).aexists()


async def test_a_title_of_the_owner_is_never_overwritten(world: World, people: Cast) -> None:
    named = await Conversation.objects.acreate(owner=people.mate, title="Mine", title_is_final=True)
    events, _ = await answer(world, people, Ask(text=QUESTION, conversation=named.pk))
    await named.arefresh_from_db()
    assert named.title == "Mine"
    assert "title" not in {event.type for event in events}


@pytest.mark.parametrize(
    "output", [[Unreachable("down")], [TextDelta("<think>The user")], [], [RateLimited("later")]]
)
async def test_a_bad_title_never_touches_the_answer(
    output: list[Any], world: World, people: Cast
) -> None:
    FakeChat.play(TextDelta("In March [1]."), Usage())
    FakeChat.play(*output)
    events, message = await answer(world, people)
    assert events[-1].type == "done"
    assert message.text == "In March [1]."
    await until_named()
    conversation = await Conversation.objects.aget(pk=message.conversation_id)
    assert conversation.title == QUESTION


async def test_only_the_first_answer_makes_a_title(world: World, people: Cast) -> None:
    _, message = await answer(world, people)
    await until_named()
    await answer(world, people, Ask(text="Why?", conversation=message.conversation_id))
    await world.runs.drain(5)
    assert await UsageRecord.objects.filter(purpose="title").acount() == 1
    assert await UsageRecord.objects.filter(purpose="answer").acount() == 2


async def test_arms_that_were_skipped_are_named(world: World, people: Cast) -> None:
    events, _ = await answer(world, people)
    arms = {arm["name"]: arm for arm in events[0].data["arms"]}
    assert arms["keyword"]["ran"]
    assert arms["meaning"] == {
        "name": "meaning",
        "ran": False,
        "reason": "no model",
        "found": 0,
        "path": "",
    }
    assert events[0].data["notices"] == ["Search by meaning was skipped: no model."]


async def test_hostile_answers_are_dead_in_the_page(world: World, people: Cast) -> None:
    FakeChat.play(
        TextDelta("<script>alert(1)</script> [x](javascript:alert(1)) [1] {{ 7*7 }}"), Usage()
    )
    events, _ = await answer(world, people)
    for event in events:
        html = event.data.get("html", "")
        assert "<script" not in html
        assert 'href="javascript' not in html
    assert "{{ 7*7 }}" in events[-1].data["html"]


async def test_the_passages_keep_their_numbers_everywhere(world: World, people: Cast) -> None:
    first = world.retrieval.passages[0]
    world.retrieval.passages = (first, replace(first, number=2, text="The seal was worn."))
    events, message = await answer(world, people)
    shown = [passage["number"] for passage in events[0].data["passages"]]
    kept = [source.number async for source in message.sources.all()]
    prompt = FakeChat.requests[0].messages[-1].content
    assert shown == kept == [1, 2]
    assert "[1] Pump 1" in prompt
    assert "[2] Pump 1" in prompt
    assert [citation["n"] for citation in message.citations] == [1, 2]


async def test_reasoning_that_passed_for_the_answer_is_not_kept(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("secret wemrick"), Withdrawal(), TextDelta("The seal."), Usage(3, 2))
    FakeChat.play(TextDelta("secret wemrick"), Withdrawal(), TextDelta("Worn seal"), Usage(3, 2))
    events, message = await answer(world, people)
    assert message.text == "The seal."
    assert "wemrick" not in events[-1].data["html"]
    ids = RunIds((await Run.objects.aget(message=message)).pk, message.conversation_id, message.pk)
    assert await world.runs.title_after(ids) == "Worn seal"


async def test_what_a_model_counts_is_learned_and_then_fits_at_once(
    world: World, people: Cast
) -> None:
    """Its tokenizer makes 1.6 tokens of one that was estimated: found out once, then known."""
    await ChatModel.objects.all().aupdate(enabled=False)
    await sync_to_async(make_model)(
        "tokens:1.6:3000|say:Yes.", context_window=3000, max_output_tokens=300
    )
    long = "The pump was repaired by Ann, who had to wait for a seal. " * 40
    world.retrieval.passages = tuple(
        [
            await sync_to_async(make_passage)(
                people.vault, number=number, text=long, title=f"Repair {number}"
            )
            for number in range(1, 6)
        ]
    )
    shortened = []
    for _turn in range(4):
        events, message = await answer(world, people)
        assert message.status == "done"
        shortened.append(SHORTENED in [event.data.get("text") for event in events])
        assert "Some passages were cut" in " ".join(message.notices)
    assert shortened[0]
    assert not shortened[-1]


BARE = "The pump failed in March. It was repaired in three hours by Ann."


async def test_an_answer_that_cites_nothing_gets_its_sources_afterwards(
    world: World, people: Cast
) -> None:
    FakeChat.play(TextDelta(BARE), Usage(9, 12))
    events, message = await answer(world, people)
    assert (
        message.text == "The pump failed in March. [1] It was repaired in three hours by Ann. [1]"
    )
    assert message.sources_added
    assert events[-1].data["sources_added"]
    assert said_text(events) == message.text
    assert [citation["n"] for citation in message.citations] == [1, 1]
    resets = [event.data for event in events if event.type == "reset"]
    assert resets == [{"reason": "sources_added"}]


async def test_sources_are_not_added_where_that_is_switched_off(world: World, people: Cast) -> None:
    await ChatSettings.objects.acreate(adds_sources=False)
    FakeChat.play(TextDelta(BARE), Usage(9, 12))
    _, message = await answer(world, people)
    assert (message.text, message.citations, message.sources_added) == (BARE, [], False)


async def test_a_stopped_answer_and_one_that_cites_are_left_alone(
    world: World, people: Cast
) -> None:
    FakeChat.play(TextDelta(f"{BARE} The seal was worn [1]."), Usage(9, 12))
    _, message = await answer(world, people)
    assert message.text == f"{BARE} The seal was worn [1]."
    assert not message.sources_added


async def test_an_answer_keeps_the_calls_it_took(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("In March [1]."), Usage(120, 6))
    _, message = await answer(world, people)
    assert [(c["purpose"], c["input_tokens"], c["output_tokens"]) for c in message.calls] == [
        ("answer", 120, 6)
    ]


async def test_a_strict_answer_that_there_is_none_names_the_nearest_notes(
    world: World, people: Cast
) -> None:
    passage = world.retrieval.passages[0]

    async def only_near(question: str, **of: Any) -> Retrieval:
        found = await world.retrieval(question, **of)
        return found if of["knobs"].mode == "semantic" else replace(found, passages=())

    world.runs._providing = replace(world.runs._providing, retrieve=only_near)
    events, message = await answer(world, people, Ask(text=QUESTION, mode="notes_only"))
    assert message.nearest == [passage.note_id]
    assert "Compared by words; meaning not, because: no model." in message.text
    assert not [event for event in events if event.type == "reset"]
    conversation = await Conversation.objects.aget(pk=message.conversation_id)
    shown = await sync_to_async(thread)(conversation, people.mate)
    assert [note["title"] for note in shown[1]["nearest"]] == ["Pump 1"]
    await VaultMember.objects.filter(user=people.mate).adelete()
    assert not (await sync_to_async(thread)(conversation, people.mate))[1]["nearest"]
