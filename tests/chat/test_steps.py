"""Steps as rows: the reader's word from every door, and what a killed server leaves."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from chat.core.asking import Refused
from chat.ledger import end_abandoned
from chat.models import Conversation, Message, Run, Step
from chat.steps import decide
from providers.core.types import TextDelta, ToolCall, Usage
from providers.testing import FakeChat
from tests.cast import Cast, make_cast
from tests.chat.world import World, signed_in

SEARCH = ToolCall("c1", "search", '{"query": "the cause"}')


@pytest.fixture
def cast(db: None) -> Cast:
    return make_cast()


def waiting(cast: Cast) -> Step:
    """A step that waits for its reader, in an answer that is being written."""
    talk = Conversation.objects.create(owner=cast.owner)
    answer = Message.objects.create(conversation=talk, role="assistant", status="running")
    soon = timezone.now() + timedelta(minutes=1)
    Run.objects.create(conversation=talk, message=answer, owner_process="p", lease_until=soon)
    return Step.objects.create(message=answer, number=1, tool="search", what="x", state="asked")


@pytest.mark.parametrize("decision", [None, "", "maybe", "time_out", 1, ["allow"]])
def test_a_word_that_is_none_is_refused(cast: Cast, decision: object) -> None:
    step = waiting(cast)
    with pytest.raises(Refused, match="allow, allow_all, refuse") as refused:
        decide(step.message, 1, decision)
    assert refused.value.status == 400


def test_the_first_word_counts(cast: Cast) -> None:
    step = waiting(cast)
    decide(step.message, 1, "refuse")
    with pytest.raises(Refused, match="does not wait"):
        decide(step.message, 1, "allow")
    step.refresh_from_db()
    assert step.decision == "refuse"


def test_what_does_not_wait_takes_no_word(cast: Cast) -> None:
    step = waiting(cast)
    Step.objects.update(state="running")
    with pytest.raises(Refused) as refused:
        decide(step.message, 1, "allow")
    assert refused.value.code == "decided"
    with pytest.raises(Refused) as missing:
        decide(step.message, 2, "allow")
    assert missing.value.code == "not_found"


def test_a_killed_server_leaves_the_steps_that_were_taken(cast: Cast) -> None:
    step = waiting(cast)
    Step.objects.create(message=step.message, number=2, tool="search", state="done", found=[1])
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert end_abandoned() == 1
    step.message.refresh_from_db()
    assert step.message.status == "interrupted"
    states = step.message.steps.values_list("state", flat=True)
    assert list(states) == ["interrupted", "done"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.asyncio
@pytest.mark.parametrize("door", ["socket", "rest", "form"])
async def test_every_door_takes_the_readers_word(world: World, people: Cast, door: str) -> None:
    FakeChat.play(SEARCH, Usage(1, 1, "tool"))
    FakeChat.play(TextDelta("In March [1]."), Usage(1, 1))
    socket = await world.socket(people.mate)
    await socket.say(type="ask", id="a", text="Why?", tool_use="ask")
    accepted = await socket.hear_type("accepted")
    asked = await socket.hear_type("tool")
    assert (asked["state"], asked["what"], asked["number"]) == ("asked", "the cause", 1)
    assert 'data-step="1"' in asked["html"]
    if door == "socket":
        await socket.say(type="decide", run=accepted["run"], step=1, decision="allow")
    else:
        status = await sync_to_async(_by_http)(people, accepted, door)
        assert status == {"rest": 202, "form": 302}[door]
    frames = await socket.hear_to_the_end()
    assert [f["state"] for f in frames if f["type"] == "tool"] == ["running", "done"]
    message = await Message.objects.aget(pk=UUID(accepted["message"]))
    assert message.text == "In March [1]."
    await socket.disconnect()


def _by_http(people: Cast, accepted: dict[str, Any], door: str) -> int:
    conversation, message = accepted["conversation"], accepted["message"]
    place = {
        "rest": f"/api/chat/conversations/{conversation}/messages/{message}/steps/1",
        "form": f"/c/{conversation}/answers/{message}/steps/1",
    }[door]
    page = signed_in(people.mate).get(f"/c/{conversation}")
    assert f'action="/c/{conversation}/answers/{message}/steps/1"' in page.content.decode()
    return signed_in(people.mate).post(place, {"decision": "allow"}).status_code
