"""What is offered after an answer: from the notes, by the model, or nothing."""

from __future__ import annotations

import pytest

from chat.follow_ups import asked_follow_ups, follow_ups_for
from chat.models import ChatSettings, FollowUps, Message
from chat.providing import site_providing
from providers.models import UsageRecord
from tests.cast import Cast
from tests.chat.pages import add_source, add_turn, make_conversation, make_note
from tests.chat.world import make_model
from vault.models import VaultMember

pytestmark = pytest.mark.django_db


@pytest.fixture
def answer(cast: Cast) -> Message:
    headings = [{"level": 2, "text": text} for text in ("Failure", "Repair", "Cost")]
    note = make_note(cast.vault, headings=headings)
    talk = make_conversation(cast.mate)
    return add_turn(talk, "When did it fail?", "In March [1].", note=note)


def choose(cast: Cast, follow_ups: str) -> None:
    ChatSettings.objects.create(user=cast.mate, follow_ups=follow_ups)


def test_headings_of_the_notes_that_were_read_are_offered(cast: Cast, answer: Message) -> None:
    assert follow_ups_for(cast.mate, answer) == (
        "What should I know about “Repair” in “Pump”?",
        "What should I know about “Cost” in “Pump”?",
    )


def test_a_note_that_was_found_and_not_cited_offers_nothing(cast: Cast, answer: Message) -> None:
    headings = [{"level": 2, "text": "Temporary chats"}]
    beside = make_note(cast.vault, title="Chats", headings=headings)
    add_source(answer, beside, number=2)
    assert "Chats" not in str(follow_ups_for(cast.mate, answer))
    answer.text = "Chats last a day [2]."
    assert follow_ups_for(cast.mate, answer) == (
        "What should I know about “Temporary chats” in “Chats”?",
    )
    answer.text = "Nobody wrote that down."
    assert follow_ups_for(cast.mate, answer) == ()


def test_they_can_be_switched_off_and_are_then_not_made(cast: Cast, answer: Message) -> None:
    choose(cast, FollowUps.OFF)
    assert follow_ups_for(cast.mate, answer) == ()


def test_nothing_follows_what_may_not_be_read_any_more(cast: Cast, answer: Message) -> None:
    VaultMember.objects.filter(user=cast.mate).delete()
    assert follow_ups_for(cast.mate, answer) == ()


def test_nothing_follows_an_answer_without_notes_or_without_an_end(
    cast: Cast, answer: Message
) -> None:
    answer.status = Message.Status.STOPPED
    assert follow_ups_for(cast.mate, answer) == ()
    bare = add_turn(make_conversation(cast.mate), "Hello?", "Hello.")
    assert follow_ups_for(cast.mate, bare) == ()


def test_the_model_is_asked_once_and_its_call_is_counted(cast: Cast, answer: Message) -> None:
    choose(cast, FollowUps.MODEL)
    make_model("say:Who repaired it?\nWhat did it cost?")
    assert follow_ups_for(cast.mate, answer) is None
    ask = (cast.mate, answer.conversation_id, answer.pk, site_providing())
    found = asked_follow_ups(*ask)
    assert found == asked_follow_ups(*ask)
    assert UsageRecord.objects.filter(purpose="follow-ups").count() == 1
    answer.refresh_from_db()
    assert answer.follow_ups == list(found)


def test_a_model_that_fails_offers_nothing(cast: Cast, answer: Message) -> None:
    choose(cast, FollowUps.MODEL)
    make_model("fail:rate_limited")
    ask = (cast.mate, answer.conversation_id, answer.pk, site_providing())
    assert asked_follow_ups(*ask) == ()
    assert UsageRecord.objects.get(purpose="follow-ups").failed_with == "rate_limited"
